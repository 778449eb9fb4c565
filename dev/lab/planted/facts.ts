/** Generated facts, each at one position of a conversation: knowledge of a session that a compaction must not lose. */

/** Kinds of positions that hold a fact. */
export const KINDS = [
  "typed",
  "said",
  "thought",
  "image",
  "input",
  "read",
  "shell",
  "grep",
  "error",
  "long",
  "web",
  "answer",
] as const
export type PlantedKind = (typeof KINDS)[number]

export interface PlantedFact {
  readonly id: string
  readonly kind: PlantedKind
  /** `planted`: in ordinary work. `kinds`: a few of each kind. */
  readonly group: "planted" | "kinds"
  /** Subject of the fact. Each fact has a different one. */
  readonly subject: string
  /** The exact name or number of the fact. */
  readonly value: string
  readonly sentence: string
}

const PLANTED = 43
const OF_EACH_KIND = 4
/** Kinds of positions where users and tools mention facts in ordinary work. */
const ORDINARY: readonly PlantedKind[] = ["read", "shell", "grep", "typed", "error", "said", "input"]

const THINGS =
  "retention window,shard limit,rollback commit,signing order,retry ceiling,cache namespace,queue address,schema version,failure code,tracking ticket,feature flag,entry point".split(
    ",",
  )
const OWNERS =
  "billing archive,harbour gateway,meadow scheduler,ledger importer,orchard mailer,canyon indexer,glacier exporter,lantern proxy,willow planner".split(
    ",",
  )

/** Generators of values, used in turn: one for each class of exact names. */
const VALUES: readonly ((at: number) => string)[] = [
  (at) => String(10_000 + ((at * 7_919) % 89_989)),
  (at) => `${(at * 2_654_435_761).toString(16)}c0ffee`.slice(0, 7).replace(/^\d+$/, "a$&"),
  (at) => `rotate${camel(at)}Keys`,
  (at) => `${1 + (at % 9)}.${(at * 7) % 40}.${(at * 13) % 90}`,
  (at) => `src/${camel(at).toLowerCase()}/drain-${at}.ts`,
  (at) => `ERR_${camel(at).toUpperCase()}_${at}`,
  (at) => `OPS-${2_000 + at * 3}`,
  (at) => `https://${camel(at).toLowerCase()}.example.net:${7_000 + at}`,
]

const camel = (at: number) => `${"BDFGKLMNPRST"[at % 12]}${"aeiou"[at % 5]}${"rlnv"[at % 4]}${"ixoq"[(at >> 2) % 4]}`

export function plantedFacts(): readonly PlantedFact[] {
  const planted = Array.from({ length: PLANTED }, (_, at) => factAt(at, ORDINARY[at % ORDINARY.length]!, "planted"))
  const ofKinds = KINDS.flatMap((kind, nth) =>
    Array.from({ length: OF_EACH_KIND }, (_, at) => factAt(PLANTED + nth * OF_EACH_KIND + at, kind, "kinds")),
  )
  return [...planted, ...ofKinds]
}

function factAt(at: number, kind: PlantedKind, group: PlantedFact["group"]): PlantedFact {
  const thing = THINGS[at % THINGS.length]!
  const owner = `${OWNERS[Math.floor(at / THINGS.length) % OWNERS.length]!}`
  const subject = `${thing} of the ${owner}`
  const value = VALUES[(at + Math.floor(at / VALUES.length)) % VALUES.length]!(at)
  return { id: `fact-${at}`, kind, group, subject, value, sentence: `the ${subject} is ${value}` }
}
