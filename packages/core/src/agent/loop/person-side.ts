/**
 * What the person does beside a query: messages typed while the agent works, the files they name, commands that they run. What is sent to
 * the model waits for the next request, so that nothing changes between a request and its answer.
 */
import { StrataError } from "../../base/errors.ts"
import type { Conversation } from "../../conversation/conversation.ts"
import type { Attachment } from "../../messages/attachments.ts"
import type { Uuid } from "../../messages/messages.ts"
import type { InstructionWatch } from "../instructions/instruction-watch.ts"
import { asAttachment } from "../permissions/admit-call.ts"
import { runUserCommand, type UserCommand, type UserCommandEnd } from "../permissions/person-command.ts"
import { mentionedFiles, notAttached } from "./mentioned-files.ts"
import type { QueryOptions } from "./query.ts"
import type { ToolRun } from "./run-tools.ts"

/** The message is kept as text until its turn comes. */
const IS_WAITING = "it is an image or a document, and the message waits for the agent. The agent can read it by itself"

export interface UserSideParts {
  readonly conversation: Conversation
  readonly instructions: InstructionWatch
  readonly isSubAgent: boolean
  readonly toolRun: () => ToolRun
  /** Whether a query runs. */
  readonly isWorking: () => boolean
}

interface Enqueued {
  readonly mentions?: boolean
  /** The part that the person typed. Default: all of it. */
  readonly written?: string
}

export class UserSide {
  readonly #parts: UserSideParts
  /** Hooks that look at messages typed meanwhile. */
  readonly #submitting = new Set<Promise<unknown>>()
  /** For the model and the person, with the next request. */
  readonly #said = { attachments: [] as Attachment[], problems: [] as string[] }

  constructor(parts: UserSideParts) {
    this.#parts = parts
  }

  /** For a query: what was typed and run meanwhile. */
  get typed(): Required<QueryOptions>["typed"] {
    return {
      settled: async () => {
        while (this.#submitting.size > 0) await Promise.all(this.#submitting)
      },
      take: () => ({ attachments: this.#said.attachments.splice(0), problems: this.#said.problems.splice(0) }),
    }
  }

  enqueue(text: string, options: Enqueued): Promise<Uuid> {
    const keeping = this.#enqueue(text, options).finally(() => this.#submitting.delete(settled))
    const settled = keeping.catch(() => undefined)
    this.#submitting.add(settled)
    return keeping
  }

  async #enqueue(text: string, { mentions = false, written }: Enqueued): Promise<Uuid> {
    const { conversation, isSubAgent, toolRun } = this.#parts
    if (isSubAgent) return conversation.enqueue(text)
    const run = toolRun()
    const { stop, blocked, contexts, messages } = await run.runHooks("UserPromptSubmit", { about: { prompt: text } })
    const why = stop ?? blocked
    this.#said.problems.push(...messages)
    if (why !== undefined)
      throw new StrataError(
        `A hook blocked the message: ${why.replace(/[.\s]+$/, "")}. It was not kept. Change it and send it again.`,
      )
    this.#said.attachments.push(...contexts.map(asAttachment))
    if (mentions) await this.#attachMentioned(text, run)
    return conversation.enqueue(text, written)
  }

  async #attachMentioned(text: string, run: ToolRun): Promise<void> {
    const { attachments, media, problems, touched } = await mentionedFiles(text, run)
    this.#said.attachments.push(...attachments, ...(await this.#parts.instructions.due(touched)))
    this.#said.problems.push(...problems, ...media.map(({ path }) => notAttached(path, IS_WAITING)))
  }

  async runCommand(command: UserCommand): Promise<UserCommandEnd> {
    const { toolRun, isWorking } = this.#parts
    const end = await runUserCommand(command, toolRun())
    this.#said.attachments.push(end)
    if (!isWorking()) await this.keepCommands()
    return end
  }

  /** Journals commands that no request has taken. */
  async keepCommands(): Promise<void> {
    const { attachments } = this.#said
    const commands = attachments.filter(({ type }) => type === "person_command")
    attachments.splice(0, attachments.length, ...attachments.filter((waiting) => !commands.includes(waiting)))
    for (const attachment of commands) await this.#parts.conversation.attach(attachment)
  }
}
