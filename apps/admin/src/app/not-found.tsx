import type { Metadata } from "next";
import Link from "next/link";

export const metadata: Metadata = { title: "Not found" };

export default function NotFound() {
  return (
    <main className="center">
      <div className="card">
        <h1>There is no such page</h1>
        <p>The address may be of something that was removed, or mistyped.</p>
        <Link className="link" href="/">
          Go to the overview
        </Link>
      </div>
    </main>
  );
}
