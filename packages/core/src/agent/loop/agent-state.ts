/** State of an agent that is not a message: mode and rules, directory, todos. Tools access it through their context. */
import type { PermissionMode, RuleList } from "../../base/enums.ts"
import { engineOf } from "../../conversation/conversation.ts"
import type { EditorState } from "../../conversation/editor.ts"
import type { ConversationRef } from "../../conversation/open.ts"
import type { Todo } from "../../messages/attachments.ts"
import type { Confinement } from "../../tools/command.ts"
import type { ReadState, SharedToolContext } from "../../tools/tool.ts"
import type { AgentEnvironment } from "../agent-environment.ts"
import type { SingleAgentOptions } from "../options.ts"
import { narrowPolicy } from "../permissions/permission-policy.ts"
import type { PermissionPolicy } from "../permissions/permissions.ts"
import { Refusals } from "./refusals.ts"

export interface AgentStateDependencies extends Pick<SingleAgentOptions, "promptUser" | "approvePlan"> {
  readonly ground: Pick<AgentEnvironment, "cwd" | "root" | "clock" | "env" | "settings" | "memory">
  readonly policy: PermissionPolicy
  readonly reads: ReadState
  /** Policy of the lead. This agent's policy is never wider. */
  readonly within?: (() => PermissionPolicy) | undefined
  readonly conversationRef: ConversationRef
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
  /** What the user's editor shows. */
  editor: EditorState | undefined
  readonly #parts: AgentStateDependencies
  #policy: PermissionPolicy
  readonly #added: AddedRule[] = []

  constructor(parts: AgentStateDependencies) {
    const { ground, policy, reads, conversationRef, approvePlan, promptUser } = parts
    const { clock, env, cwd } = ground
    this.refusals = new Refusals(() => engineOf(conversationRef.conversation).flags.figures["max-denials"])
    this.#parts = parts
    this.#policy = policy
    this.directory = cwd
    this.toolContext = {
      clock,
      env,
      reads,
      offloadsResults: () => this.#putsAside(),
      snapshotFile: (bytes) => engineOf(conversationRef.conversation).files.keep(bytes),
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
    return within ? narrowPolicy(this.#policy, within()) : this.#policy
  }

  /** Confinement of commands. */
  confinement(): Confinement {
    const { settings, root, memory } = this.#parts.ground
    return {
      ...{ sandbox: settings.sandbox, root },
      readable: [...(this.policy.readable ?? []), ...(memory?.directory ? [memory.directory] : [])],
    }
  }

  /** Whether large results are offloaded. */
  #putsAside(): boolean {
    const { layers, conversation } = this.#parts.conversationRef
    return layers.some(({ name }) => name === "tool-results") && engineOf(conversation).flags.on["tool-result-storage"]
  }

  /** Changes the mode at once. Resolves when the change is in the journal. */
  setMode(mode: PermissionMode): Promise<void> {
    this.#policy = { ...this.#policy, mode }
    const recorded = engineOf(this.#parts.conversationRef.conversation).setMode(mode)
    recorded.catch(() => undefined) // a caller that does not await it gets the same error with the next entry
    return recorded
  }

  /** Allows reading a file or directory without permission. */
  letRead(path: string): void {
    this.#policy = { ...this.#policy, readable: [...(this.#policy.readable ?? []), path] }
  }

  allow(rule: string): void {
    this.addRule("allow", rule)
  }

  /** Adds a rule for the rest of the conversation. */
  addRule(list: RuleList, rule: string): void {
    this.#policy = { ...this.#policy, [list]: [...this.#policy[list], rule] }
    this.#added.push({ list, rule })
  }

  /** Removes a rule for the rest of the conversation. If two sources have it, the other one remains. */
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
