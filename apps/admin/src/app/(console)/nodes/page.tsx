import type { Metadata } from "next";
import { Nodes } from "../../../ui/nodes/nodes.tsx";

export const metadata: Metadata = { title: "Nodes" };

export default function NodesPage() {
  return <Nodes />;
}
