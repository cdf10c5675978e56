/** The model ids of an OpenAI `/v1/models` answer, or null when the body is not one. */
export function listedModels(body: unknown): readonly string[] | null {
  if (typeof body !== "object" || body === null || !("data" in body) || !Array.isArray(body.data)) return null;
  return body.data.flatMap((entry: unknown) =>
    typeof entry === "object" && entry !== null && "id" in entry && typeof entry.id === "string" ? [entry.id] : [],
  );
}
