/** Words that names do not use, each with its replacement, and exact terms that are nevertheless right. */

export const WORDS: Readonly<Record<string, string>> = {
  door: "entry point, adapter, access or liveness socket",
  doors: "entry points, adapters or access",
  seat: "permit",
  seats: "permits",
  shelf: "passage store",
  shelves: "passage stores",
  purse: "cost budget",
  purses: "cost budgets",
  brain: "responder",
  brains: "responders",
  marks: "breakpoints, scores or cursor",
  residue: "stub",
  residues: "stubs",
  told: "user statement, reported",
  telling: "distinctive, highlights",
  said: "text, user text",
  beside: "next to, compared with, reference",
  anew: "again, rewritten",
  learnt: "learned",
}

/** Identifiers that contain one of `WORDS` and are the exact term, most of them because they are on disk or on the wire. */
export const EXACT_TERMS: readonly {
  readonly in: string
  readonly names: readonly string[]
  readonly reason: string
}[] = [
  {
    in: "packages/adapters/src/",
    names: ["door"],
    reason: "the field of a block on disk with what only its provider's package reads",
  },
  {
    in: "packages/",
    names: ["saidInResults"],
    reason: "field of a user message in the journal",
  },
  {
    in: "packages/core/src/messages/",
    names: ["door"],
    reason: "field of a block in the journal: provider fields",
  },
  {
    in: "packages/core/src/layers/memory-budget",
    names: ["said"],
    reason: "field of the queue of extractions on disk",
  },
  {
    in: "packages/core/src/layers/5-auto-memory/",
    names: ["said"],
    reason:
      "field of `memory-extracted` and `memory-rules-kept` in the journal, and of the queue of extractions on disk",
  },
  {
    in: "packages/core/src/layers/4-compaction/messages/",
    names: ["said"],
    reason: "field of the record that `compactMessages` returns",
  },
  {
    in: "packages/core/src/layers/2-microcompact/",
    names: ["residues"],
    reason: "field of `tool-results-cleared` in the journal",
  },
  {
    in: "packages/",
    names: ["saidBy"],
    reason: "key of the frontmatter, and of a memory's source in the history",
  },
  {
    in: "dev/",
    names: ["saidBy"],
    reason: "key of the frontmatter, and of a memory's source in the history",
  },
  {
    in: "dev/lab/score-compaction/",
    names: ["said"],
    reason: "word of summaries and of the list of names in patterns",
  },
  {
    in: "dev/checks/prose/plain-words.ts",
    names: ["shelf", "shelves"],
    reason: "words that the check of prose looks for",
  },
  {
    in: "packages/core/src/recall/answer/",
    names: ["said", "told"],
    reason: "words of questions that a pattern recognises",
  },
  {
    in: "packages/postgres/src/passage-store.ts",
    names: ["marks"],
    reason: "column that an SQL function returns",
  },
  {
    in: "packages/sim/src/responders/extractive/memories.ts",
    names: ["said_earlier"],
    reason: "tag in a prompt",
  },
  {
    in: "packages/plugins/test/",
    names: ["said"],
    reason: "word of a text for models, in patterns",
  },
  {
    in: "packages/plugins/src/observe.ts",
    names: ["said"],
    reason: "field of the record that `compactMessages` returns",
  },
  {
    in: "packages/core/test/integration/model/provider-fields.test.ts",
    names: ["door"],
    reason: "field of a block in the journal: provider fields",
  },
  {
    in: "packages/core/test/integration/",
    names: ["said"],
    reason: "field of `memory-extracted` in the journal, and a word of notices in patterns",
  },
  {
    in: "packages/core/src/journal/",
    names: ["said", "residues"],
    reason: "fields of journal entries",
  },
  {
    in: "packages/core/src/journal/file/",
    names: ["door"],
    reason: "field of a lock file",
  },
  {
    in: "packages/core/src/journal/file/permit-files.ts",
    names: ["seat"],
    reason: "the lock files are called `seat-1.lock` on disk, also for earlier versions",
  },
  {
    in: "packages/core/src/model/ai-sdk/",
    names: ["door"],
    reason: "field of a block in the journal: provider fields",
  },
  {
    in: "packages/core/src/model/offline/memories.ts",
    names: ["said_earlier"],
    reason: "tag in a prompt",
  },
  {
    in: "packages/core/src/base/secrets/",
    names: ["said", "door"],
    reason: "parts of secret names and forms that patterns recognise",
  },
  {
    in: "packages/core/src/views/record/",
    names: ["said", "saidAt", "telling"],
    reason: "fields of view states in checkpoints, and words that patterns of rules and locations recognise",
  },
  {
    in: "packages/core/src/views/record/lasting-rules",
    names: ["told", "marks"],
    reason: "words that patterns of rules recognise",
  },
  {
    in: "packages/core/src/views/",
    names: ["residues"],
    reason: "field of `tool-results-cleared` in the journal",
  },
  {
    in: "packages/core/src/views/reports/",
    names: ["saidAt"],
    reason: "field of a view state in checkpoints",
  },
  {
    in: "packages/core/src/views/views.test",
    names: ["said"],
    reason: "field of a view state in checkpoints",
  },
  {
    in: "packages/core/src/layers/4-compaction/",
    names: ["said", "told", "telling", "said_38", "said_39"],
    reason: "fields of view states in checkpoints, a title of the list of names, and words of patterns",
  },
  {
    in: "packages/core/src/layers/2-microcompact/user-text.test",
    names: ["said"],
    reason: "field of `memory-extracted` in the journal",
  },
  {
    in: "packages/core/src/layers/5-auto-memory/save/provenance.test",
    names: ["saidAt"],
    reason: "field of a view state in checkpoints",
  },
  {
    in: "packages/core/src/layers/6-dreaming/check/check.test",
    names: ["said"],
    reason: "key of the frontmatter of a memory",
  },
  {
    in: "packages/core/src/memory/bank.test",
    names: ["said"],
    reason: "key of the frontmatter of a memory",
  },
  {
    in: "packages/transcripts/src/import/",
    names: ["saidAt"],
    reason: "field of a view state in checkpoints",
  },
  {
    in: "packages/cli/test/memory",
    names: ["said"],
    reason: "words on the screen: `you said it`",
  },
]

/** Single words that end like a participle or a gerund and are nouns. */
export const NOUNS = [
  "Thinking",
  "Encoding",
  "Setting",
  "Feed",
  "Seed",
  "Embedding",
  "Binding",
  "Pricing",
  "String",
  "Uuid",
]

/** Participles that do not end in -ed. */
export const PARTICIPLES = [
  ...[
    "Begun",
    "Bound",
    "Brought",
    "Built",
    "Drawn",
    "Found",
    "Given",
    "Gone",
    "Heard",
    "Held",
    "Kept",
    "Known",
    "Left",
  ],
  ...[
    "Lost",
    "Made",
    "Meant",
    "Met",
    "Paid",
    "Put",
    "Read",
    "Said",
    "Seen",
    "Sent",
    "Shown",
    "Spent",
    "Split",
    "Stuck",
  ],
  ...["Taken", "Told", "Understood", "Written"],
]
