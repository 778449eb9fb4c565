/**
 * Finds where a request differs from the previous one, as the server's cache sees them: tools, system prompt and messages, block by block.
 * Breakpoints are ignored. Unchanged blocks are the same objects in both requests, so the cost depends only on what is new.
 */
import { declaredTools, toBlocks } from "../../messages/blocks.ts"
import type { ModelRequest, RequestExtras } from "../../messages/request.ts"
import {
  cachedText,
  type PromptItem,
  type PromptSetting,
  promptSettings,
  requestFeatures,
  type SettingValue,
} from "./prefix.ts"

export type RequestComparison =
  /** There is no previous request. */
  | { readonly kind: "initial" }
  | { readonly kind: "same" }
  /** Everything sent before is unchanged. New content starts at this position. */
  | { readonly kind: "appended"; readonly message: number; readonly block: number }
  | ({ readonly kind: "changed" } & RequestChange)

/** The first change. `byte` is the offset in the serialized block, or 0 if one of the requests lacks the block. */
export type RequestChange =
  | { readonly part: "model" }
  | { readonly part: "tools" | "system"; readonly block: number; readonly byte: number }
  | { readonly part: "settings"; readonly setting: PromptSetting }
  | { readonly part: "messages"; readonly message: number; readonly block: number; readonly byte: number }
  /** Not part of the prompt. Reported only if everything else is unchanged. */
  | { readonly part: "betas" }

/** Known facts about both requests, which speed up the comparison. */
export interface ComparisonHints {
  /** How many leading messages are the same objects. */
  readonly same: number
  readonly settings: readonly [before: readonly SettingValue[], after: readonly SettingValue[]]
}

export function compareRequests(
  before: ModelRequest | undefined,
  after: ModelRequest,
  known?: ComparisonHints,
): RequestComparison {
  if (!before) return { kind: "initial" }
  if (before.model !== after.model) return { kind: "changed", part: "model" }
  const prompt = changeInPrompt(before, after, known)
  if (prompt) return { kind: "changed", ...prompt }
  const messages = compareMessages(before.messages, after.messages, known?.same)
  if (messages.kind === "changed") return messages
  return betasOf(before) === betasOf(after) ? messages : { kind: "changed", part: "betas" }
}

function changeInPrompt(before: ModelRequest, after: ModelRequest, known?: ComparisonHints): RequestChange | undefined {
  const tools = firstChange(declaredTools(before.tools ?? []), declaredTools(after.tools ?? []))
  if (tools) return { part: "tools", ...tools }
  const system = firstChange(toBlocks(before.system ?? ""), toBlocks(after.system ?? ""))
  if (system) return { part: "system", ...system }
  const [was, is] = known?.settings ?? [before, after].map((each) => promptSettings(each, requestFeatures(each)))
  const setting = is!.find(({ value }, i) => value !== was![i]!.value)
  return setting && { part: "settings", setting: setting.name }
}

type Messages = ModelRequest["messages"]

function compareMessages(before: Messages, after: Messages, same = 0): RequestComparison {
  for (let message = same; message < before.length; message++) {
    const [earlier, later] = [before[message]!, after[message]]
    if (later === earlier) continue
    if (!later || later.role !== earlier.role) return { kind: "changed", part: "messages", message, block: 0, byte: 0 }
    const [was, is] = [toBlocks(earlier.content), toBlocks(later.content)]
    const mayGrow = message === before.length - 1
    const change = firstChange(was, mayGrow ? is.slice(0, was.length) : is)
    if (change) return { kind: "changed", part: "messages", message, ...change }
    if (is.length > was.length) return { kind: "appended", message, block: was.length }
  }
  return after.length > before.length ? { kind: "appended", message: before.length, block: 0 } : { kind: "same" }
}

function firstChange(
  before: readonly PromptItem[],
  after: readonly PromptItem[],
): { readonly block: number; readonly byte: number } | undefined {
  const max = Math.max(before.length, after.length)
  for (let block = 0; block < max; block++) {
    const [was, is] = [before[block], after[block]]
    if (was === is) continue
    if (!was || !is) return { block, byte: 0 }
    const [text, other] = [cachedText(was), cachedText(is)]
    if (text !== other) return { block, byte: firstDifference(text, other) }
  }
  return undefined
}

/** Offset of the first difference, in bytes of UTF-8. */
function firstDifference(a: string, b: string): number {
  const min = Math.min(a.length, b.length)
  let at = 0
  while (at < min && a[at] === b[at]) at++
  return Buffer.byteLength(a.slice(0, at))
}

const betasOf = (request: ModelRequest & RequestExtras): string =>
  JSON.stringify([request.betas ?? [], request.context_management ?? null])
