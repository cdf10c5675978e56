import type { Metadata } from "next";
import { Models } from "../../../ui/models/models.tsx";

export const metadata: Metadata = { title: "Models" };

export default function ModelsPage() {
  return <Models />;
}
