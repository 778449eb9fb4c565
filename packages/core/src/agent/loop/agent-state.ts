/** What changes while an agent works and is not a message: mode and rules, directory, todos. Tools see it as their context. */
import type { Clock } from "../../base/clock.ts"
import type { PermissionMode } from "../../base/vocabulary.ts"
import type { Todo } from "../../messages/attachments.ts"
import type { ReadState, SharedToolContext } from "../../tools/tool.ts"
import type { AgentOptions } from "../options.ts"
import { narrowed } from "../permissions/permission-policy.ts"
import type { PermissionPolicy } from "../permissions/permissions.ts"
import { Refusals } from "./refusals.ts"

export interface AgentStateParts {
  readonly policy: PermissionPolicy
  readonly directory: string
  readonly clock: Clock
  readonly env: Readonly<Record<string, string | undefined>>
  readonly reads: ReadState
  readonly askPerson: AgentOptions["askPerson"]
  readonly approvePlan: AgentOptions["approvePlan"]
  /** Journals the mode. Called for every change, also for those that tools make. */
  readonly recordMode: (mode: PermissionMode) => Promise<void>
  /** The policy of the agent that this one works for. This one is never wider. */
  readonly within?: (() => PermissionPolicy) | undefined
  /** Whether large results are put aside. */
  readonly putsAside: () => boolean
  readonly confinement: NonNullable<SharedToolContext["confinement"]>
  /** Keeps the content of a file before a tool changes it. */
  readonly keepFile: NonNullable<SharedToolContext["keepFile"]>
  /** After how many refusals in a row the model is asked to take another way. */
  readonly mostRefusals: () => number
}

export class AgentState {
  directory: string
  todos: readonly Todo[] = []
  readonly refusals: Refusals
  readonly toolContext: SharedToolContext
  readonly #recordMode: AgentStateParts["recordMode"]
  readonly #within: AgentStateParts["within"]
  #policy: PermissionPolicy

  constructor(parts: AgentStateParts) {
    const { policy, directory, approvePlan, askPerson, clock, env, reads, recordMode, within, putsAside, keepFile } =
      parts
    this.refusals = new Refusals(parts.mostRefusals)
    this.#recordMode = recordMode
    this.#within = within
    this.#policy = policy
    this.directory = directory
    this.toolContext = {
      clock,
      env,
      reads,
      putsAside,
      keepFile,
      confinement: parts.confinement,
      directory: {
        get: () => this.directory,
        set: (path) => {
          this.directory = path
        },
      },
      todos: {
        get: () => this.todos,
        set: (todos) => {
          this.todos = todos
        },
      },
      plan: {
        isActive: () => this.policy.mode === "plan",
        enter: () => void this.setMode("plan"),
        leave: async (plan) => {
          const answer = (await approvePlan?.(plan)) ?? { approved: false, remark: "no one is there to approve it" }
          if (answer.approved) await this.setMode("accept-edits")
          return answer
        },
      },
      ...(askPerson ? { askPerson: async (question) => askPerson(question) } : {}),
    }
  }

  get policy(): PermissionPolicy {
    return this.#within ? narrowed(this.#policy, this.#within()) : this.#policy
  }

  /** The mode changes at once. Resolves when it is in the journal. */
  setMode(mode: PermissionMode): Promise<void> {
    this.#policy = { ...this.#policy, mode }
    const recorded = this.#recordMode(mode)
    recorded.catch(() => undefined) // a caller that does not wait gets the same error with the next entry
    return recorded
  }

  /** A file or directory that needs no permission to read. */
  letRead(path: string): void {
    this.#policy = { ...this.#policy, readable: [...(this.#policy.readable ?? []), path] }
  }

  allow(rule: string): void {
    this.#policy = { ...this.#policy, allow: [...this.#policy.allow, rule] }
  }
}
