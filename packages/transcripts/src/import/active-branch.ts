/**
 * The active branch: the newest message and all its ancestors, including those before boundaries. Abandoned branches and the conversations
 * of sub-agents are not on it.
 * Parallel tool calls look like branches but are not: their results are children of the parts of one response, and the conversation
 * continues after only one of them. So all parts of a response on the path, and the results of its calls, belong to the path.
 */

import type { Uuid } from "@strata/core"
import { contentOf, isToolResult, isToolUse, type Message } from "@strata/core/messages"
import type { Tally } from "./tally.ts"

export function listActiveBranch(messages: readonly Message[]): readonly Message[] {
  const main = messages.filter((message) => !message.isSidechain)
  const byUuid = new Map(main.map((message) => [message.uuid, message]))
  const path = new Set<Uuid>()
  const addFrom = (start: Message | undefined) => {
    for (let at = start; at !== undefined && !path.has(at.uuid); at = byUuid.get(parentOf(at) ?? "")) path.add(at.uuid)
  }
  addFrom(main.at(-1))
  // a progress report may have an older message as its parent, so it does not decide which branch is active
  const newest = main.findLast(({ type }) => type !== "progress")
  if (newest && !path.has(newest.uuid)) {
    path.clear()
    addFrom(newest)
  }

  const responses = new Set(main.filter(({ uuid }) => path.has(uuid)).flatMap(responseIdOf))
  const isPiece = (message: Message) => responseIdOf(message).some((id) => responses.has(id))
  const calls = new Set(main.filter((message) => path.has(message.uuid) || isPiece(message)).flatMap(callsOf))
  return main.filter(
    (message) => path.has(message.uuid) || isPiece(message) || answersOf(message).some((id) => calls.has(id)),
  )
}

/** Reports the number of messages on abandoned branches. */
export function reportBranches(messages: readonly Message[], tally: Tally): void {
  const path = new Set(listActiveBranch(messages))
  const isSpoken = ({ type, isSidechain }: Message) => (type === "user" || type === "assistant") && !isSidechain
  const abandoned = messages.filter((message) => isSpoken(message) && !path.has(message)).length
  if (abandoned > 0) tally.remark(`messages on abandoned branches: ${abandoned}`)
}

const parentOf = (message: Message) =>
  message.parentUuid ?? (message.type === "system" ? message.logicalParentUuid : undefined)

const responseIdOf = (message: Message) =>
  message.type === "assistant" && message.message.id ? [message.message.id] : []

const callsOf = (message: Message) =>
  message.type === "assistant" ? contentOf(message).flatMap((block) => (isToolUse(block) ? block.id : [])) : []

const answersOf = (message: Message) =>
  message.type === "user" ? contentOf(message).flatMap((block) => (isToolResult(block) ? block.tool_use_id : [])) : []
