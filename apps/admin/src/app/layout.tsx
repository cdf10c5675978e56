import { GeistMono } from "geist/font/mono";
import { GeistSans } from "geist/font/sans";
import type { Metadata, Viewport } from "next";
import { headers } from "next/headers";
import type { ReactNode } from "react";
import { Providers } from "../ui/data/providers.tsx";
import { themeScript } from "../ui/shell/theme.ts";
import "./globals.css";

export const metadata: Metadata = {
  title: { default: "llmgw", template: "%s · llmgw" },
  description: "Which models run where, why, and how to take a node out of service",
};

export const viewport: Viewport = { width: "device-width", initialScale: 1 };

/** Reading the request's headers makes every page dynamic: each answer carries its own nonce. */
export default async function RootLayout({ children }: { readonly children: ReactNode }) {
  const nonce = (await headers()).get("x-nonce") ?? undefined;
  return (
    <html
      lang="en"
      data-theme="light"
      className={`${GeistSans.variable} ${GeistMono.variable}`}
      suppressHydrationWarning
    >
      <head>
        <script nonce={nonce} suppressHydrationWarning>
          {themeScript}
        </script>
      </head>
      <body>
        <Providers>{children}</Providers>
      </body>
    </html>
  );
}
