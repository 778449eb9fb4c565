/** Merges several responses into one, without the calls of a tool that the client does not have. */
import type { ApiBody } from "./plan.ts"

/** Sums the output of all responses. Input is that of the last one, from which the client derives how full the context is. */
export function sumUsage(before: ApiBody | undefined, usage: ApiBody | undefined): ApiBody {
  const output = Number(before?.output_tokens ?? 0) + Number(usage?.output_tokens ?? 0)
  return { ...before, ...definedFields(usage), output_tokens: output }
}

/** The fields that have values. */
export const definedFields = (usage: ApiBody | undefined): ApiBody =>
  Object.fromEntries(Object.entries(usage ?? {}).filter(([, value]) => value !== null && value !== undefined))

/** Whether the client expects JSON. Text before a call of Strata's tool is then not part of the response. */
export function wantsJson({ output_config, output_format }: ApiBody): boolean {
  return Boolean((output_config as ApiBody | null | undefined)?.format ?? output_format)
}

export interface MergeOptions {
  readonly tool: string
  readonly isJson: boolean
}

/** `before`: responses that called only Strata's tool. */
export function mergeAnswers(before: readonly ApiBody[], last: ApiBody, { tool, isJson }: MergeOptions): ApiBody {
  const all = [...before, last]
  const isSeen = ({ type, name }: ApiBody, answer: ApiBody) =>
    !(type === "tool_use" && name === tool) && !(isJson && type === "text" && answer !== last)
  const content = all.flatMap((answer) =>
    (answer.content as readonly ApiBody[]).filter((block) => isSeen(block, answer)),
  )
  const asksCaller = content.some(({ type }) => type === "tool_use")
  const usage = all.reduce<ApiBody | undefined>(
    (sum, answer) => sumUsage(sum, answer.usage as ApiBody | undefined),
    undefined,
  )
  return {
    ...last,
    id: all[0]!.id,
    content,
    stop_reason: last.stop_reason === "tool_use" && !asksCaller ? "end_turn" : last.stop_reason,
    ...(last.usage ? { usage } : {}),
  }
}
