import type { Metadata } from "next";
import { Audit } from "../../../ui/audit/audit.tsx";

export const metadata: Metadata = { title: "Audit" };

export default function AuditPage() {
  return <Audit />;
}
