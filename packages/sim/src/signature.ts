/**
 * Signatures on thinking and compaction blocks. A signature carries a small record and a code over it, which exposes blocks that a client
 * invented or changed. The key is not secret, so a signature is valid in every simulator and after a restart.
 */
import { createHash, createHmac } from "node:crypto"

const KEY = "strata simulator"

export function sign(kind: "thinking" | "compaction", record: Readonly<Record<string, unknown>>): string {
  const payload = Buffer.from(JSON.stringify(record)).toString("base64url")
  return `${payload}.${codeOver(kind, payload)}`
}

/** The record in a signature of this kind, or `undefined` if the text is not one. */
export function readSignature(kind: "thinking" | "compaction", sealed: string): Record<string, unknown> | undefined {
  const [payload, code, ...rest] = sealed.split(".")
  if (!payload || rest.length > 0 || code !== codeOver(kind, payload)) return undefined
  return JSON.parse(Buffer.from(payload, "base64url").toString()) as Record<string, unknown>
}

const codeOver = (kind: string, payload: string) =>
  createHmac("sha256", KEY).update(`${kind}:${payload}`).digest("base64url")

export const digest = (...parts: readonly string[]) => {
  const hash = createHash("sha256")
  for (const part of parts) hash.update(part).update("\0")
  return hash.digest("base64url")
}

/** Hash of a value that ignores key order and cache breakpoints. */
export const canonicalDigest = (value: unknown) => digest(JSON.stringify(value, sortKeys) ?? "")

function sortKeys(key: string, value: unknown): unknown {
  if (key === "cache_control") return undefined
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
}
