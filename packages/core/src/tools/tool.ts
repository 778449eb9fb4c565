/**
 * What a tool is: a plain object with a schema, a read-only mark, a permission question and a function. It knows neither the loop nor
 * the conversation; what it needs comes in its context. Whatever it throws becomes an error result.
 */
import type { z } from "zod"
import type { Clock } from "../base/clock.ts"
import type { Attachment, Todo } from "../messages/attachments.ts"
import type { Block } from "../messages/blocks.ts"

export interface Tool<Input = unknown> {
  readonly name: string
  readonly description: string
  readonly schema: z.ZodType<Input>
  /** Instead of the schema's own JSON Schema: for tools whose schema comes from elsewhere, as with MCP. */
  readonly jsonSchema?: Readonly<Record<string, unknown>>
  /** Whether a call changes nothing: such calls may run side by side and in plan mode. */
  isReadOnly(input: Input): boolean
  /** What a call wants to do, for whoever must allow it. */
  question(input: Input, context: ToolContext): PermissionQuestion | Promise<PermissionQuestion>
  run(input: Input, context: ToolContext): Promise<ToolOutput>
  /** It keeps its results short by itself: layer 1 leaves them alone. */
  readonly limitsItself?: boolean
}

export interface PermissionQuestion {
  readonly kind: "read" | "write" | "execute" | "network" | "ask" | "other"
  /** One line for a person: `rm -rf build`, `edit src/index.ts`. */
  readonly summary: string
  /** Files it is about, resolved, symlinks followed. */
  readonly paths?: readonly string[]
  /** What patterns in rules are held against, where it is not a path: a command line, a URL. */
  readonly subject?: string
  /** What would change, for a person to look at. */
  readonly preview?: string
}

export interface ToolOutput {
  readonly content: string | readonly Block[]
  readonly isError?: boolean
  /** Goes into the conversation behind the results. */
  readonly attachments?: readonly Attachment[]
  /** Files it touched: their directories' instructions become relevant. */
  readonly touched?: readonly string[]
}

/** What a tool may use. One object for a whole conversation, but for the signal and the call's id. */
export interface ToolContext {
  readonly signal: AbortSignal
  /** The call that is being carried out. */
  readonly toolUseId: string
  readonly clock: Clock
  /** Where relative paths begin; `cd` in a shell moves it. */
  readonly directory: WorkingDirectory
  readonly reads: ReadState
  readonly env: Readonly<Record<string, string | undefined>>
  /** What is being shown while a call runs. */
  progress(text: string): void
  /** Asks the person; `undefined` where there is nobody to ask. */
  readonly askPerson?: (question: PersonQuestion) => Promise<string | undefined>
  readonly todos: { get(): readonly Todo[]; set(todos: readonly Todo[]): void }
  readonly plan: PlanState
}

export interface WorkingDirectory {
  get(): string
  set(path: string): void
}

export interface PersonQuestion {
  readonly text: string
  readonly options?: readonly string[]
}

export interface PlanState {
  isActive(): boolean
  enter(): void
  /** Shows the plan and asks to go ahead; resolves with whether that was allowed. */
  leave(plan: string): Promise<{ readonly approved: boolean; readonly remark?: string }>
}

/** What the model has seen of files, so that it neither edits blindly nor reads the same thing twice. */
export interface ReadState {
  get(path: string): FileRead | undefined
  set(path: string, read: FileRead): void
  forget(path: string): void
  entries(): Iterable<readonly [string, FileRead]>
}

export interface FileRead {
  /** As it was when it was read or written. */
  readonly content: string
  readonly modifiedMs: number
  /** Lines that were shown, where it was not the whole file. */
  readonly range?: { readonly offset: number; readonly limit: number }
  /** The call whose result shows it. */
  readonly toolUseId?: string
  readonly at: string
}
