// `npm run test:real-engine`: the cluster with a real llama.cpp of this machine, named by LLAMA_SERVER and
// LLAMA_RPC_SERVER. GGUF names a model; without it one with random weights is written. Exit code 3: there is none here.
import { prepare } from "./prepare.mjs";
import { runSuite } from "./suites.mjs";

const missing = ["LLAMA_SERVER", "LLAMA_RPC_SERVER"].filter((name) => !process.env[name]);
if (missing.length > 0) {
  process.stderr.write(
    `${missing.join(" and ")} not set: expected the paths of llama-server and ggml-rpc-server of one llama.cpp build.\n`,
  );
  process.exit(3);
}
await prepare();
const { passed, failed } = await runSuite("real-engine");
process.stdout.write(`\n${passed} passed, ${failed} failed\n`);
process.exitCode = failed === 0 ? 0 : 1;
