import type { Metadata } from "next";
import { Routers } from "../../../ui/routers/routers.tsx";

export const metadata: Metadata = { title: "Routers" };

export default function RoutersPage() {
  return <Routers />;
}
