"use client";

import { Broken } from "../../ui/parts/broken.tsx";

interface ErrorPageProps {
  readonly error: Error & { readonly digest?: string };
  readonly reset: () => void;
}

export default function ErrorPage({ error, reset }: ErrorPageProps) {
  return <Broken what={error.message} onRetry={reset} />;
}
