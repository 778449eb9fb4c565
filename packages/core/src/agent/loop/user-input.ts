/**
 * User input during a query: typed messages, the files they mention, and shell commands. Content for the model waits for the next request,
 * so that nothing changes between a request and its response.
 */
import { StrataError } from "../../base/errors.ts"
import type { Conversation } from "../../conversation/conversation.ts"
import type { Attachment } from "../../messages/attachments.ts"
import type { Uuid } from "../../messages/messages.ts"
import type { InstructionWatch } from "../instructions/instruction-watch.ts"
import { asAttachment } from "../permissions/authorize-call.ts"
import { runUserCommand, type UserCommand, type UserCommandEnd } from "../permissions/user-command.ts"
import { mentionedFiles, notAttached } from "./mentioned-files.ts"
import type { QueryOptions } from "./query.ts"
import type { ToolRun } from "./run-tools.ts"

/** A queued message is stored as text. */
const IS_WAITING = "it is an image or a document, and the message waits for the agent. The agent can read it by itself"

export interface UserInputDependencies {
  readonly conversation: Conversation
  readonly instructions: InstructionWatch
  readonly isSubAgent: boolean
  readonly toolRun: () => ToolRun
  /** Whether a query is running. */
  readonly isWorking: () => boolean
}

interface EnqueueOptions {
  readonly mentions?: boolean
  /** The part that the user typed. Default: the complete text. */
  readonly written?: string
}

export class UserInput {
  readonly #parts: UserInputDependencies
  /** Running hooks on queued messages. */
  readonly #submitting = new Set<Promise<unknown>>()
  /** Attachments for the model and notices for the user, delivered with the next request. */
  readonly #pending = { attachments: [] as Attachment[], problems: [] as string[] }

  constructor(parts: UserInputDependencies) {
    this.#parts = parts
  }

  /** Interface for the query loop: input since the last request. */
  get typed(): Required<QueryOptions>["typed"] {
    return {
      settled: async () => {
        while (this.#submitting.size > 0) await Promise.all(this.#submitting)
      },
      take: () => ({ attachments: this.#pending.attachments.splice(0), problems: this.#pending.problems.splice(0) }),
    }
  }

  enqueue(text: string, options: EnqueueOptions): Promise<Uuid> {
    const keeping = this.#enqueue(text, options).finally(() => this.#submitting.delete(settled))
    const settled = keeping.catch(() => undefined)
    this.#submitting.add(settled)
    return keeping
  }

  async #enqueue(text: string, { mentions = false, written }: EnqueueOptions): Promise<Uuid> {
    const { conversation, isSubAgent, toolRun } = this.#parts
    if (isSubAgent) return conversation.enqueue(text)
    const run = toolRun()
    const { stop, blocked, contexts, messages } = await run.runHooks("UserPromptSubmit", {
      eventFields: { prompt: text },
    })
    const why = stop ?? blocked
    this.#pending.problems.push(...messages)
    if (why !== undefined)
      throw new StrataError(
        `A hook blocked the message: ${why.replace(/[.\s]+$/, "")}. It was not sent. Change it and send it again.`,
      )
    this.#pending.attachments.push(...contexts.map(asAttachment))
    if (mentions) await this.#attachMentioned(text, run)
    return conversation.enqueue(text, written)
  }

  async #attachMentioned(text: string, run: ToolRun): Promise<void> {
    const { attachments, media, problems, touched } = await mentionedFiles(text, run)
    this.#pending.attachments.push(...attachments, ...(await this.#parts.instructions.due(touched)))
    this.#pending.problems.push(...problems, ...media.map(({ path }) => notAttached(path, IS_WAITING)))
  }

  async runCommand(command: UserCommand): Promise<UserCommandEnd> {
    const { toolRun, isWorking } = this.#parts
    const end = await runUserCommand(command, toolRun())
    this.#pending.attachments.push(end)
    if (!isWorking()) await this.keepCommands()
    return end
  }

  /** Records shell commands that no request has delivered. */
  async keepCommands(): Promise<void> {
    const { attachments } = this.#pending
    const commands = attachments.filter(({ type }) => type === "person_command")
    attachments.splice(0, attachments.length, ...attachments.filter((waiting) => !commands.includes(waiting)))
    for (const attachment of commands) await this.#parts.conversation.attach(attachment)
  }
}
