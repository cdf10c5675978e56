import type { Metadata } from "next";
import { Replicas } from "../../../ui/replicas/replicas.tsx";

export const metadata: Metadata = { title: "Replicas" };

export default function ReplicasPage() {
  return <Replicas />;
}
