import type { Metadata } from "next";
import { Model } from "../../../../ui/models/model.tsx";

interface ModelPageProps {
  readonly params: Promise<{ readonly model: string }>;
}

export async function generateMetadata({ params }: ModelPageProps): Promise<Metadata> {
  return { title: decodeURIComponent((await params).model) };
}

export default async function ModelPage({ params }: ModelPageProps) {
  const { model } = await params;
  return <Model id={decodeURIComponent(model)} />;
}
