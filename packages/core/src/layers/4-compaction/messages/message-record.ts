/**
 * The record of a conversation without a journal: the facts that follow a boundary, built message by message. It can be stored as JSON
 * between two compactions, so that facts are neither lost nor recorded twice.
 */

import type { Todo } from "../../../messages/attachments.ts"
import { handleOf } from "../../../messages/media.ts"
import type { Message } from "../../../messages/messages.ts"
import { artifacts, type CommandFacts, type FileFate, fileFate } from "../../../views/record/artifacts.ts"
import { names, results } from "../../../views/record/names.ts"
import { workState } from "../../../views/record/open-work.ts"
import { type Statement, statements } from "../../../views/record/statements.ts"
import { userMessages } from "../../../views/record/user-messages.ts"
import { fromJson, toJson } from "../../../views/views.ts"
import type { RecordViews } from "../restore/facts.ts"

/** The facts of the record as data. Lists run from old to new. */
export interface CompactionRecord {
  /** The user's messages, verbatim. */
  readonly words: readonly { readonly text: string; readonly handle: string; readonly isCut?: true }[]
  /** Sentences of the user that set rules for the further work. */
  readonly rules: readonly { readonly text: string; readonly handle: string }[]
  readonly todos: readonly Todo[]
  readonly plan?: { readonly path?: string; readonly text?: string }
  readonly files: Readonly<Record<"created" | "changed" | "deleted" | "read", readonly string[]>>
  /** Commands whose last run failed, and the last result of each test command. */
  readonly commands: readonly RecordCommand[]
  /** Exact names, the most recently used last. */
  readonly names: Readonly<Record<"said" | "typed" | "inResults", readonly string[]>>
  /** Sentences with a decision, an open task, a failure, a finding or a value. `was`: the previous value. */
  readonly statements: readonly RecordStatement[]
  /** Tool results that can be fetched again. */
  readonly results: readonly RecordResult[]
}

/** A sentence of the conversation, verbatim. */
export interface RecordStatement extends Pick<Statement, "by" | "kind"> {
  readonly text: string
  readonly handle: string
  readonly was?: string
}

/** A command and its result. */
export interface RecordCommand {
  readonly command: string
  readonly failed: boolean
  readonly isTest: boolean
  readonly exitCode?: number
  readonly handle: string
}

/** A one-line description of a tool result. */
export interface RecordResult {
  readonly handle: string
  readonly tool: string
  readonly about: string
  readonly characters: number
}

const PROJECTIONS = { words: userMessages, artifacts, names, results, statements, frontier: workState } as const

/** @internal It uses views, which declarations omit. */
export class MessageRecord {
  readonly #states: RecordViews

  constructor(saved?: unknown) {
    this.#states = saved
      ? (fromJson(saved) as RecordViews)
      : {
          ...{ words: userMessages.start(), artifacts: artifacts.start(), names: names.start() },
          ...{ results: results.start(), statements: statements.start(), frontier: workState.start() },
        }
  }

  add(message: Message): void {
    const states = this.#states as { -readonly [K in keyof RecordViews]: RecordViews[K] }
    for (const name of Object.keys(PROJECTIONS) as (keyof RecordViews)[])
      states[name] = PROJECTIONS[name].apply(states[name] as never, message, true) as never
  }

  get views(): RecordViews {
    return this.#states
  }

  save(): unknown {
    return toJson(this.#states)
  }

  get data(): CompactionRecord {
    const {
      words: userWords,
      artifacts: work,
      frontier: now,
      names: known,
      results: read,
      statements: sentences,
    } = this.#states
    const { path, text } = now.plan
    const files: { [K in FileFate]: string[] } = { created: [], changed: [], deleted: [], read: [] }
    for (const [file, facts] of work.files) files[fileFate(facts)].push(file)
    return {
      words: userWords.messages.map(({ uuid, text: spoken, isCut }) => ({
        ...{ text: spoken, handle: handleOf(uuid) },
        ...(isCut ? { isCut } : {}),
      })),
      rules: userWords.messages.flatMap(({ uuid, rules }) =>
        rules.map((rule) => ({ text: rule, handle: handleOf(uuid) })),
      ),
      todos: now.todos,
      ...(path === undefined && text === undefined
        ? {}
        : { plan: { ...(path === undefined ? {} : { path }), ...(text === undefined ? {} : { text }) } }),
      files,
      commands: [...work.commands].filter(([, { failed, isTest }]) => failed || isTest).map(commandOf),
      names: { said: [...known.said.keys()], typed: [...known.typed.keys()], inResults: [...known.seen.keys()] },
      statements: [...sentences.current].map(([text, { uuid, by, kind, was }]) => ({
        ...{ text, by, kind, handle: handleOf(uuid) },
        ...(was === undefined ? {} : { was }),
      })),
      results: [...read.lines.values()].map(({ uuid, tool, about, characters }) => ({
        ...{ handle: handleOf(uuid), tool, about, characters },
      })),
    }
  }
}

const commandOf = ([command, { failed, isTest, exitCode, last }]: readonly [string, CommandFacts]): RecordCommand => ({
  ...{ command, failed, isTest, handle: handleOf(last) },
  ...(exitCode === undefined ? {} : { exitCode }),
})
