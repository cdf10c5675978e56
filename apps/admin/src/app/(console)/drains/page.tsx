import type { Metadata } from "next";
import { Drains } from "../../../ui/drains/drains.tsx";

export const metadata: Metadata = { title: "Drains" };

export default function DrainsPage() {
  return <Drains />;
}
