import { Command } from "../parts/copy.tsx";
import { BrandMark } from "../shell/brand.tsx";
import { StateIcon } from "../state/states.tsx";

/** How to get in: a link that signs one browser in, once. `failed` says why the last one did not. */
export function SignIn({ failed }: { readonly failed: string | null }) {
  return (
    <main className="center">
      <div className="card">
        <span className="brand p-0 h-auto">
          <BrandMark />
          <span>llmgw</span>
        </span>
        <h1>Sign in</h1>
        {failed !== null && (
          <div className="notice s-failed" role="alert">
            <StateIcon state="failed" size="ic-l" />
            <div>
              <p>{failed}</p>
            </div>
          </div>
        )}
        <p>
          You sign in with a link that works once, in one browser. On the machine where llmgw runs,{" "}
          <code>npm start</code> prints the first one; this makes another:
        </p>
        <Command>npx llmgw ctl sign-in</Command>
        <p className="sm muted">
          Paste the link it prints into this browser. On another machine, set <code>LLMGW_ADMIN_URL</code> and{" "}
          <code>LLMGW_TOKEN</code> (an admin's token) for ctl first.
        </p>
      </div>
    </main>
  );
}
