/**
 * What listing and resuming need, as the journal keeps it. It follows the first message of a person and every boundary, so a resume reads
 * nothing before that.
 */
import type { RequestSource } from "../base/vocabulary.ts"
import type { DecisionOf } from "../journal/entries.ts"
import type { Uuid } from "../messages/messages.ts"
import type { ContextView } from "../views/context/context.ts"

export interface SessionFactsParts {
  readonly model: string
  readonly cwd: string
  readonly title?: string | undefined
  /** What the conversation's requests are for. */
  readonly source: RequestSource
}

type SessionDraft = { readonly type: "strata" } & DecisionOf<"session">

export class SessionFacts {
  readonly #parts: SessionFactsParts
  /** The agent's permission mode. Without an agent the journal's continues. */
  mode: string | undefined

  constructor(parts: SessionFactsParts) {
    this.#parts = parts
  }

  draft({ session }: ContextView, change: { readonly title?: string; readonly prompt?: Uuid } = {}): SessionDraft {
    const { model, cwd, source } = this.#parts
    const title = change.title ?? session?.title ?? this.#parts.title
    const prompt = change.prompt ?? session?.prompt
    const mode = this.mode ?? session?.mode
    return {
      type: "strata",
      subtype: "session",
      model,
      cwd,
      ...(session?.origin === undefined ? {} : { origin: session.origin }),
      ...(mode === undefined ? {} : { mode }),
      ...(title === undefined ? {} : { title }),
      ...(prompt === undefined ? {} : { prompt }),
      ...(source === "main" ? {} : { source }),
    }
  }

  /** A resume continues with the model that was asked last, in the mode that was set last. Nothing if the journal has both. */
  changed(context: ContextView): SessionDraft | undefined {
    const { session } = context
    if (!session) return undefined // it comes with the first message
    const draft = this.draft(context)
    return session.model === draft.model && session.mode === draft.mode ? undefined : draft
  }

  /** An undo brings back the session facts of that time. Model and mode continue as they are now, and so does the title. */
  afterUndo(context: ContextView, title: string | undefined): SessionDraft | undefined {
    const { session, prompt } = context
    const isOther = session && ((title !== undefined && session.title !== title) || session.prompt !== prompt?.uuid)
    if (!isOther) return this.changed(context)
    return this.draft(context, {
      ...(title === undefined ? {} : { title }),
      ...(prompt ? { prompt: prompt.uuid } : {}),
    })
  }
}
