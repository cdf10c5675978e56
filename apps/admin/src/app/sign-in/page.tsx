import type { Metadata } from "next";
import { SignIn } from "../../ui/sign-in/sign-in.tsx";

export const metadata: Metadata = { title: "Sign in" };

interface SignInPageProps {
  readonly searchParams: Promise<Readonly<Record<string, string | string[] | undefined>>>;
}

export default async function SignInPage({ searchParams }: SignInPageProps) {
  const { error } = await searchParams;
  return <SignIn failed={error === undefined ? null : "That link has been used or has run out. Make another one."} />;
}
