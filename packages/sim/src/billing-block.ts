/**
 * Claude Code puts a block before its system prompt that says who is billed, with another value in many requests. The API takes it out:
 * it is no part of the prompt, so neither the cache nor bound thinking depends on it. Servers that do not know it keep it.
 */
import type { MessagesBody } from "./wire.ts"

const BILLING = /^x-anthropic-billing-header:/

export function withoutBillingBlock(body: MessagesBody): MessagesBody {
  const { system } = body
  if (!Array.isArray(system) || !BILLING.test(system[0]?.text ?? "")) return body
  return { ...body, system: system.slice(1) }
}
