/** What changes while an agent works and is not a message: mode and rules, directory, todos. Tools see it as their context. */
import type { PermissionMode, RuleList } from "../../base/vocabulary.ts"
import { engineOf } from "../../conversation/conversation.ts"
import type { EditorState } from "../../conversation/editor.ts"
import type { WhenOpen } from "../../conversation/open.ts"
import type { Todo } from "../../messages/attachments.ts"
import type { Confinement } from "../../tools/command.ts"
import type { ReadState, SharedToolContext } from "../../tools/tool.ts"
import type { Ground } from "../ground.ts"
import type { SingleAgentOptions } from "../options.ts"
import { narrowed } from "../permissions/permission-policy.ts"
import type { PermissionPolicy } from "../permissions/permissions.ts"
import { Refusals } from "./refusals.ts"

export interface AgentStateParts extends Pick<SingleAgentOptions, "promptUser" | "approvePlan"> {
  readonly ground: Pick<Ground, "cwd" | "root" | "clock" | "env" | "settings" | "memory">
  readonly policy: PermissionPolicy
  readonly reads: ReadState
  /** The policy of the agent that this one works for. This one is never wider. */
  readonly within?: (() => PermissionPolicy) | undefined
  readonly whenOpen: WhenOpen
}

export interface AddedRule {
  readonly list: RuleList
  readonly rule: string
}

export class AgentState {
  directory: string
  todos: readonly Todo[] = []
  readonly refusals: Refusals
  readonly toolContext: SharedToolContext
  /** What the person's editor shows. */
  editor: EditorState | undefined
  readonly #parts: AgentStateParts
  #policy: PermissionPolicy
  readonly #added: AddedRule[] = []

  constructor(parts: AgentStateParts) {
    const { ground, policy, reads, whenOpen, approvePlan, promptUser } = parts
    const { clock, env, cwd } = ground
    this.refusals = new Refusals(() => whenOpen.conversation.flags.figures["max-denials"])
    this.#parts = parts
    this.#policy = policy
    this.directory = cwd
    this.toolContext = {
      clock,
      env,
      reads,
      putsAside: () => this.#putsAside(),
      keepFile: (bytes) => engineOf(whenOpen.conversation).files.keep(bytes),
      confinement: () => this.confinement(),
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
      ...(promptUser ? { promptUser: async (question) => promptUser(question) } : {}),
    }
  }

  get policy(): PermissionPolicy {
    const { within } = this.#parts
    return within ? narrowed(this.#policy, within()) : this.#policy
  }

  /** How commands are confined. */
  confinement(): Confinement {
    const { settings, root, memory } = this.#parts.ground
    return {
      ...{ sandbox: settings.sandbox, root },
      readable: [...(this.policy.readable ?? []), ...(memory?.directory ? [memory.directory] : [])],
    }
  }

  /** Whether large results are put aside. */
  #putsAside(): boolean {
    const { layers, conversation } = this.#parts.whenOpen
    return layers.some(({ name }) => name === "tool-results") && conversation.flags.on["tool-result-storage"]
  }

  /** The mode changes at once. Resolves when it is in the journal. */
  setMode(mode: PermissionMode): Promise<void> {
    this.#policy = { ...this.#policy, mode }
    const recorded = engineOf(this.#parts.whenOpen.conversation).setMode(mode)
    recorded.catch(() => undefined) // a caller that does not wait gets the same error with the next entry
    return recorded
  }

  /** A file or directory that needs no permission to read. */
  letRead(path: string): void {
    this.#policy = { ...this.#policy, readable: [...(this.#policy.readable ?? []), path] }
  }

  allow(rule: string): void {
    this.addRule("allow", rule)
  }

  /** For the rest of the conversation. */
  addRule(list: RuleList, rule: string): void {
    this.#policy = { ...this.#policy, [list]: [...this.#policy[list], rule] }
    this.#added.push({ list, rule })
  }

  /** Takes one such rule back for the rest of the conversation. Where two sources have it, the other one's stays. */
  removeRule(list: RuleList, rule: string): void {
    const rules = this.#policy[list]
    const at = rules.lastIndexOf(rule)
    if (at < 0) return
    this.#policy = { ...this.#policy, [list]: rules.toSpliced(at, 1) }
    const added = this.#added.findIndex((one) => one.list === list && one.rule === rule)
    if (added >= 0) this.#added.splice(added, 1)
  }

  /** Rules added in this conversation, in order. */
  get addedRules(): readonly AddedRule[] {
    return this.#added
  }
}
