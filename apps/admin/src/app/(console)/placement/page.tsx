import type { Metadata } from "next";
import { Placement } from "../../../ui/placement/placement.tsx";

export const metadata: Metadata = { title: "Placement" };

export default function PlacementPage() {
  return <Placement />;
}
