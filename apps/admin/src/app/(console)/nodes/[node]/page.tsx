import type { Metadata } from "next";
import { Node } from "../../../../ui/nodes/node.tsx";

interface NodePageProps {
  readonly params: Promise<{ readonly node: string }>;
}

export async function generateMetadata({ params }: NodePageProps): Promise<Metadata> {
  return { title: decodeURIComponent((await params).node) };
}

export default async function NodePage({ params }: NodePageProps) {
  const { node } = await params;
  return <Node name={decodeURIComponent(node)} />;
}
