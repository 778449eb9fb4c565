/** What changes while an agent works and is not a message: mode and rules, directory, todos. Tools see it as their context. */
import type { Clock } from "../base/clock.ts"
import type { PermissionMode } from "../base/vocabulary.ts"
import type { Todo } from "../messages/attachments.ts"
import type { ReadState, SharedToolContext } from "../tools/tool.ts"
import type { AgentOptions } from "./options.ts"
import type { PermissionPolicy } from "./permissions.ts"

export interface AgentStateParts {
  readonly policy: PermissionPolicy
  readonly directory: string
  readonly clock: Clock
  readonly env: Readonly<Record<string, string | undefined>>
  readonly reads: ReadState
  readonly askPerson: AgentOptions["askPerson"]
  readonly approvePlan: AgentOptions["approvePlan"]
}

export class AgentState {
  policy: PermissionPolicy
  directory: string
  todos: readonly Todo[] = []
  readonly toolContext: SharedToolContext

  constructor({ policy, directory, approvePlan, askPerson, clock, env, reads }: AgentStateParts) {
    this.policy = policy
    this.directory = directory
    this.toolContext = {
      clock,
      env,
      reads,
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
        enter: () => this.setMode("plan"),
        leave: async (plan) => {
          const answer = (await approvePlan?.(plan)) ?? { approved: false, remark: "no one is there to approve it" }
          if (answer.approved) this.setMode("accept-edits")
          return answer
        },
      },
      ...(askPerson ? { askPerson: async (question) => askPerson(question) } : {}),
    }
  }

  setMode(mode: PermissionMode): void {
    this.policy = { ...this.policy, mode }
  }

  allow(rule: string): void {
    this.policy = { ...this.policy, allow: [...this.policy.allow, rule] }
  }
}
