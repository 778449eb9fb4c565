/**
 * The mark that a fork carries in its history (L7-3). A fork has the same tools as its parent, so it can ask for a fork of its own; the
 * mark lets that attempt fail with a sentence the model understands. What the fork is asked to do stands inside the mark.
 */
import { StrataError } from "../base/errors.ts"
import { isText, toBlocks } from "../messages/blocks.ts"
import type { ModelRequest } from "../messages/request.ts"

/** The name of the tag around a fork's directive. */
export const FORK_MARKER = "strata-fork"

const OPENING = `<${FORK_MARKER}>`
const CLOSING = `</${FORK_MARKER}>`

/** The same for every fork: of several at once only the directive differs. */
const SITUATION =
  "You are a copy of the agent above, made for one task besides its work. The agent goes on without you: do not go on with its work, and do not " +
  "start agents. A call above that is still running is its own, and you need not wait for it. Nobody reads along, so ask nothing. Do only this:"

/** A fork tried to make a fork. */
export class ForkedForkError extends StrataError {
  override readonly name = "ForkedForkError"

  constructor() {
    super(
      "A fork cannot start another fork, so nothing was started and nothing was changed: do the work yourself with the tools you have, or say in your answer what is left.",
    )
  }
}

export function asDirective(text: string): string {
  return `${OPENING}\n${SITUATION}\n\n${text}\n${CLOSING}`
}

/** Whether these are the messages of a fork. Text that only mentions the mark, or shows it in a result, does not count. */
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
  if (isForked(messages)) throw new ForkedForkError()
}
