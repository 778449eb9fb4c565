/**
 * The mark around a fork's directive. A fork has the same tools as its parent, so it may try to start a fork of its own. The mark lets
 * that attempt fail with a sentence the model understands.
 */
import { StrataError } from "../base/errors.ts"
import { isText, toBlocks } from "../messages/blocks.ts"
import type { ModelRequest } from "../messages/request.ts"

/** The name of the tag around a fork's directive. */
export const FORK_MARKER = "strata-fork"

const OPENING = `<${FORK_MARKER}>`
const CLOSING = `</${FORK_MARKER}>`

/** The same for every fork, so that parallel forks differ only in their directive. */
const SITUATION =
  "You are a copy of the agent above, made for one separate task. The agent continues without you: do not continue its work, and do not start " +
  "agents. If a call above is still running, it belongs to the agent; do not wait for it. No one can answer you, so ask nothing. Do only this:"

/** A fork tried to start a fork. */
export const forkedFork = () =>
  new StrataError(
    "A fork cannot start another fork, so nothing was started and nothing was changed: do the work yourself with the tools you have, or say in your answer what is left.",
    { code: "forked-fork" },
  )

export function asDirective(text: string): string {
  return `${OPENING}\n${SITUATION}\n\n${text}\n${CLOSING}`
}

/** Whether these are the messages of a fork. Text that only mentions the mark, or a result that shows it, does not count. */
export function isForked(messages: ModelRequest["messages"]): boolean {
  return messages.some(
    ({ role, content }) =>
      role === "user" &&
      toBlocks(content).some(
        (block) => isText(block) && block.text.startsWith(OPENING) && block.text.endsWith(CLOSING),
      ),
  )
}

export function assertNotForked(messages: ModelRequest["messages"]): void {
  if (isForked(messages)) throw forkedFork()
}
