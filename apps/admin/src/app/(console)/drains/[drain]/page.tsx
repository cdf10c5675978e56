import type { Metadata } from "next";
import { Drain } from "../../../../ui/drains/drain.tsx";

interface DrainPageProps {
  readonly params: Promise<{ readonly drain: string }>;
}

export async function generateMetadata({ params }: DrainPageProps): Promise<Metadata> {
  return { title: `Drain ${decodeURIComponent((await params).drain)}` };
}

export default async function DrainPage({ params }: DrainPageProps) {
  const { drain } = await params;
  return <Drain id={decodeURIComponent(drain)} />;
}
