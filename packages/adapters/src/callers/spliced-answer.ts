/** Makes one answer out of several, without the calls of a tool that the caller does not have. */
import type { Body } from "./plan.ts"

/** Output is what all of them had. Input is that of the last one: the caller measures by it how full the context is. */
export function addedUp(before: Body | undefined, usage: Body | undefined): Body {
  const output = Number(before?.output_tokens ?? 0) + Number(usage?.output_tokens ?? 0)
  return { ...before, ...visible(usage), output_tokens: output }
}

/** Fields that say something. */
export const visible = (usage: Body | undefined): Body =>
  Object.fromEntries(Object.entries(usage ?? {}).filter(([, value]) => value !== null && value !== undefined))

/** Whether the caller wants JSON: words that come before a call of our tool are then no part of the answer. */
export function wantsJson({ output_config, output_format }: Body): boolean {
  return Boolean((output_config as Body | null | undefined)?.format ?? output_format)
}

export interface Splicing {
  readonly tool: string
  readonly isJson: boolean
}

/** `before`: answers that only asked our tool. */
export function splicedAnswer(before: readonly Body[], last: Body, { tool, isJson }: Splicing): Body {
  const all = [...before, last]
  const isSeen = ({ type, name }: Body, answer: Body) =>
    !(type === "tool_use" && name === tool) && !(isJson && type === "text" && answer !== last)
  const content = all.flatMap((answer) => (answer.content as readonly Body[]).filter((block) => isSeen(block, answer)))
  const asksCaller = content.some(({ type }) => type === "tool_use")
  const usage = all.reduce<Body | undefined>((sum, answer) => addedUp(sum, answer.usage as Body | undefined), undefined)
  return {
    ...last,
    id: all[0]!.id,
    content,
    stop_reason: last.stop_reason === "tool_use" && !asksCaller ? "end_turn" : last.stop_reason,
    ...(last.usage ? { usage } : {}),
  }
}
