import type { Metadata } from "next";
import { Replica } from "../../../../ui/replicas/replica.tsx";

interface ReplicaPageProps {
  readonly params: Promise<{ readonly replica: string }>;
}

export async function generateMetadata({ params }: ReplicaPageProps): Promise<Metadata> {
  return { title: decodeURIComponent((await params).replica) };
}

export default async function ReplicaPage({ params }: ReplicaPageProps) {
  const { replica } = await params;
  return <Replica id={decodeURIComponent(replica)} />;
}
