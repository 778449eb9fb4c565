/**
 * The state that a fork changes without affecting its parent: its reads, todos, plan and directory. It starts as a copy of the parent's.
 * A fork works in the background, so it cannot ask a person.
 */
import type { Clock } from "../base/clock.ts"
import type { Todo } from "../messages/attachments.ts"
import { FileReads } from "../tools/files/read-state.ts"
import type { Confinement } from "../tools/shell/confinement.ts"
import type { ReadState, SharedToolContext, Tool } from "../tools/tool.ts"

/** The part of a conversation's tool context that a fork copies. */
export type ToolSurroundings = Pick<SharedToolContext, "clock" | "env" | "directory" | "todos" | "plan"> & {
  readonly confinement?: () => Confinement
}

export function cloneSurroundings(parent: ToolSurroundings, reads: ReadState): SharedToolContext {
  let isPlanning = parent.plan.isActive()
  return {
    clock: parent.clock,
    env: parent.env,
    ...(parent.confinement ? { confinement: parent.confinement } : {}),
    reads: cloneReads(reads),
    directory: variable(parent.directory.get()),
    todos: variable(parent.todos.get()),
    plan: {
      isActive: () => isPlanning,
      enter: () => {
        isPlanning = true
      },
      leave: async () => ({ approved: false, remark: "a fork has no one to approve a plan" }),
    },
  }
}

/** For forks that only write text: no tools and no state. */
export function withoutTools(clock: Clock): {
  readonly tools: readonly Tool[]
  readonly reads: FileReads
  readonly toolContext: ToolSurroundings
} {
  return {
    tools: [],
    reads: new FileReads(),
    toolContext: {
      clock,
      env: {},
      directory: variable("."),
      todos: variable<readonly Todo[]>([]),
      plan: { isActive: () => false, enter: () => undefined, leave: async () => ({ approved: false }) },
    },
  }
}

export function cloneReads(reads: ReadState): FileReads {
  return reads instanceof FileReads ? reads.clone() : new FileReads({ reads: reads.entries() })
}

function variable<T>(start: T): { get(): T; set(value: T): void } {
  let value = start
  return {
    get: () => value,
    set: (next) => {
      value = next
    },
  }
}
