const mask = "***";
/** Shorter values would tear ordinary words apart; no real credential is that short. */
const shortestSecretChars = 6;

/** Names of settings whose value is a credential, as engines print them: `'api_key': 'x'`, `--hf-token x`, `PASSWORD=x`. */
const namedSecret =
  /((?:api[_-]?key|(?:hf|access|auth|bearer|hub)[_-]?token|secret(?:[_-]?key)?|password|credential)["']?\s*(?:[:=]\s*|\s)\[?["']?)(?!None\b|null\b|\*\*\*)([^\s"',\]}]{3,})/gi;
/** Credentials that show what they are: Hugging Face, OpenAI-like keys, cloud keys, bearer headers, URL passwords. */
const patterns: readonly (readonly [RegExp, string])[] = [
  [/\bhf_[A-Za-z0-9]{8,}/g, mask],
  [/\bsk-[A-Za-z0-9_-]{6,}/g, mask],
  [/\bgh[pousr]_[A-Za-z0-9]{16,}/g, mask],
  [/\bAKIA[A-Z0-9]{12,}/g, mask],
  [/\b(Bearer\s+)[\w.~+/-]+=*/gi, `$1${mask}`],
  [/(\b[a-z][a-z0-9+.-]*:\/\/[^\s:/@]+:)[^\s@/]+@/gi, `$1${mask}@`],
];

/** Replaces the given secret values, wherever they stand, and everything that looks like a credential. */
export function redact(text: string, secrets: readonly string[]): string {
  let result = text;
  // Longest first: one secret may contain another.
  const known = secrets.filter((secret) => secret.length >= shortestSecretChars).sort((a, b) => b.length - a.length);
  for (const secret of known) result = result.replaceAll(secret, mask);
  for (const [pattern, replacement] of patterns) result = result.replace(pattern, replacement);
  return result.replace(namedSecret, `$1${mask}`);
}

/** The values of variables whose names say that they are credentials. */
export function secretValues(environment: Readonly<Record<string, string>>): string[] {
  return Object.entries(environment)
    .filter(([name]) => /key|token|secret|passw|credential|auth/i.test(name))
    .map(([, value]) => value);
}
