import path from "node:path";
import type { NextConfig } from "next";

const repositoryRoot = path.resolve(import.meta.dirname, "../..");

const config: NextConfig = {
  // The packages are TypeScript sources; the bundler compiles them with the pages.
  transpilePackages: ["@llmgw/api", "@llmgw/domain", "@llmgw/wire"],
  turbopack: { root: repositoryRoot },
  outputFileTracingRoot: repositoryRoot,
  // `npm run check` runs tsc over the whole repository; a build need not do it again.
  typescript: { ignoreBuildErrors: true },
  poweredByHeader: false,
  devIndicators: false,
  reactStrictMode: true,
};

export default config;
