/**
 * Generates one conversation with thirty facts of mixed kinds: stated by the user, stated by the agent, and in tool results amid hundreds
 * of names that are used once. All facts come before the first compaction. One value changes after it. The same seed gives the same
 * conversation.
 */
import type { PlainMessage } from "@strata/core"
import type { Exchange } from "../work.ts"

export interface MixedFact {
  readonly kind: string
  readonly from: "user" | "agent" | "result"
  /** Texts that all occur close together where the fact is in view. */
  readonly needles: readonly string[]
  /** The previous value. In view it counts as stale unless the same line has the newest value. */
  readonly was?: string
  /** Compaction before which the value changes. Until then `was` is the value. */
  readonly changesBefore?: number
}

export interface MixedConversation {
  readonly facts: readonly MixedFact[]
  /** Exchanges before each compaction. */
  readonly ranges: readonly (readonly Exchange[])[]
}

/** Facts with the exchanges that state them. */
interface PlantedExchange {
  readonly facts: readonly MixedFact[]
  readonly exchanges: readonly Exchange[]
}

const FILLER_BEFORE = 18 // number of exchanges with large results in the range of the facts
const FILLER_LATER = 12 // number of these exchanges in each later range
const FILLER_LINES = 110

export function mixedConversation(seed: number, compactions: number): MixedConversation {
  const draw = new Draw(seed)
  const planted = [...userSays(draw), ...agentSays(draw), ...toolsPrint(draw), ...valuesChange(draw)]
  const filler = Array.from({ length: FILLER_BEFORE }, () => fillerExchange(draw))
  const first = interleaved(
    planted.map(({ exchanges }) => exchanges),
    filler,
  )
  const { fact, exchange } = laterChange(draw)
  const later = Array.from({ length: compactions - 1 }, () =>
    Array.from({ length: FILLER_LATER }, () => fillerExchange(draw)),
  )
  const moved = [...first.slice(0, 2), exchange("before"), ...first.slice(2)]
  const ranges = [moved, ...later.map((range, at) => (at === 0 ? [exchange("after"), ...range] : range))]
  return { facts: [...planted.flatMap(({ facts }) => facts), fact], ranges }
}

function userSays(draw: Draw): readonly PlantedExchange[] {
  const [place, ticket, url, user, prefix] = [
    `/srv/${draw.name()}/live`,
    `${draw.name().toUpperCase()}-${draw.digits(4)}`,
    `https://${draw.name()}.example.net/runbooks/${draw.digits(3)}`,
    draw.of(["Ottilie Brandt", "Kwame Asante", "Ines Valdivia", "Rurik Halvorsen"]),
    draw.of(["qz:", "vk:", "jx:"]),
  ]
  const says = (kind: string, text: string, needles: readonly string[]) => typed(kind, text, { needles })
  return [
    says("user's rule", `Never write below ${place}, whatever a script says.`, ["Never write", place]),
    says("user's preference", `I prefer commit messages that begin with ${prefix} and name the module.`, [prefix]),
    says("ticket", `This work belongs to ${ticket}. Look at the queue first.`, [ticket]),
    says("URL", `The runbook is at ${url}. Start with the gate.`, [url]),
    says("person to ask", `Ask ${user} before you change the schema.`, [user, "schema"]),
  ]
}

function agentSays(draw: Draw): readonly PlantedExchange[] {
  const [slots, migration, rows, kernel, old, now] = [
    draw.of(["4093", "2039", "8191"]),
    `00${draw.digits(2)}`,
    `${draw.digits(2)},${draw.digits(3)}`,
    `${draw.of(["4.19", "5.4", "5.10"])}.${draw.digits(3)}`,
    `flush${draw.camel()}`,
    `drain${draw.camel()}`,
  ]
  const [lease, closes, tenant, version] = [
    `lease_${draw.name()}`,
    `close${draw.camel()}()`,
    draw.of(["tenant", "region", "account"]),
    `15.${draw.digits(1)}`,
  ]
  const says = (kind: string, text: string, needles: readonly string[]) => statement(kind, text, { needles })
  return [
    says(
      "decision with reason",
      `I looked at the writer. I decided on a ring buffer of ${slots} slots, since a prime avoids aliasing. The tests of the writer pass.`,
      [`${slots} slots`, "prime avoids aliasing"],
    ),
    says(
      "decision against",
      `I use advisory locks instead of the table ${lease}, because the pooler drops idle sessions.`,
      ["advisory locks", lease, "pooler drops"],
    ),
    says("open TODO", `The drain works now. TODO: rename ${old} to ${now} in the gate loop.`, ["rename", old, now]),
    says("not done yet", `The code is ready. The migration ${migration} has not been run on staging.`, [
      migration,
      "not been run",
    ]),
    says(
      "finding",
      `Found the cause: ${closes} runs before the last frame is flushed, so the reader sees a short file.`,
      [closes, "last frame"],
    ),
    says("computed number", `I added them up. That makes ${rows} rows for each shard.`, [`${rows} rows`]),
    says("failed attempt", `The attempt with io_uring failed on kernel ${kernel}: the call is not supported there.`, [
      "io_uring",
      kernel,
    ]),
    says("open question", `Still open: should the retry limit count per ${tenant} or per worker?`, [
      "retry limit",
      `per ${tenant}`,
    ]),
    says("finding about versions", `It turns out that staging runs Postgres ${version}, not 16.`, [
      `Postgres ${version}`,
    ]),
  ]
}

function toolsPrint(draw: Draw): readonly PlantedExchange[] {
  const name = draw.name()
  const code = `E_${draw.name().toUpperCase()}_${draw.digits(4)}`
  const path = `/srv/${name}/etc/${draw.name()}.toml`
  const address = `0x7f${draw.hex(6)}`
  const amount = `${draw.digits(3)}.${draw.digits(1)} ms`
  const library = `lib${draw.name()}`
  const hash = `${draw.hex(6)}a${draw.hex(1)}`
  const sum = draw.hex(16)
  const port = `127.0.0.1:4${draw.digits(4)}`
  const version = `${draw.digits(1)}.${draw.digits(2)}.${draw.digits(1)}`
  const variable = `${name.toUpperCase()}_DRAIN_MS`
  const failing = `drains ${draw.name()} twice`
  const log = [
    `[gate] start with ${path}`,
    `[gate] loaded ${library} at ${address}`,
    `[gate] first frame after ${amount}`,
    `[gate] fatal ${code}: wheel out of range`,
  ]
  const one = (needle: string, kind: string): MixedFact => ({ kind, from: "result", needles: [needle] })
  return [
    {
      facts: [
        one(code, "error code"),
        one(path, "absolute path"),
        one(address, "address"),
        one(amount, "amount"),
        one(library, "library"),
      ],
      exchanges: [ran(draw, { command: "tail -n 200 gate.log", output: within(draw, log), isError: true })],
    },
    {
      facts: [one(hash, "commit hash"), one(sum, "checksum")],
      exchanges: [
        ran(draw, {
          command: "git log -1 && sha256sum gate.bin",
          output: `commit ${hash}\n    gate: keep the order\n${sum}  gate.bin`,
        }),
      ],
    },
    {
      facts: [one(port, "port"), one(variable, "variable")],
      exchanges: [
        ran(draw, { command: "./serve.sh --print", output: within(draw, [`listening on ${port}`, `${variable}=750`]) }),
      ],
    },
    {
      facts: [{ kind: "version", from: "result", needles: [version] }],
      exchanges: [
        ran(draw, { command: `./versions.sh @${name}/codec`, output: `project@1.0.0\n└── @${name}/codec@${version}` }),
      ],
    },
    {
      facts: [{ kind: "failing test", from: "result", needles: [failing] }],
      exchanges: [
        ran(draw, {
          command: "npx vitest run test/gate", // the filler's "make test" passes later
          output: within(draw, [`FAIL test/gate/drain.test.ts > ${failing}`]),
          isError: true,
        }),
      ],
    },
  ]
}

/** Values that are replaced within the first range. */
function valuesChange(draw: Draw): readonly PlantedExchange[] {
  const [oldCap, newCap] = [`$${draw.digits(3)}`, `$${draw.digits(4)}`]
  const [oldTool, newTool] = draw.of([
    ["npm", "pnpm"],
    ["jest", "vitest"],
    ["webpack", "rolldown"],
  ] as const)
  const [oldPort, newPort] = [`7${draw.digits(3)}`, `9${draw.digits(3)}`]
  const [oldFile, newFile] = [`src/gate/${draw.name()}-loop.ts`, `src/gate/${draw.name()}-wheel.ts`]
  const changed = (kind: string, from: MixedFact["from"], values: { now: string; was: string }) =>
    [{ kind, from, needles: [values.now], was: values.was }] as const
  return [
    {
      facts: changed("changed amount", "user", { now: newCap, was: oldCap }),
      exchanges: [
        asks(`The budget cap is ${oldCap} for this month.`, "Understood."),
        asks(`The budget cap is now ${newCap}.`, "Understood."),
      ],
    },
    {
      facts: changed("changed tool", "user", { now: newTool, was: oldTool }),
      exchanges: [
        asks(`Use ${oldTool} in this repository.`, "Understood."),
        asks(`Use ${newTool} instead of ${oldTool}.`, "Understood."),
      ],
    },
    {
      facts: changed("changed port", "agent", { now: newPort, was: oldPort }),
      exchanges: [
        asks("Which port has the exporter?", `The exporter's port is ${oldPort}.`),
        asks("Is it free?", `I changed the exporter's port to ${newPort}.`),
      ],
    },
    {
      facts: changed("moved file", "agent", { now: newFile, was: oldFile }),
      exchanges: [
        {
          ...asks("Look at the loop.", `The loop is in ${oldFile}.`),
          ...call(draw, {
            name: "Read",
            input: { file_path: `/work/${oldFile}` },
            output: "export const loop = () => undefined",
          }),
        },
        {
          ...asks("Give it a better name.", `I moved ${oldFile} to ${newFile}.`),
          ...call(draw, { name: "Bash", input: { command: `git mv ${oldFile} ${newFile}` }, output: "done" }),
        },
      ],
    },
  ]
}

/** A value that is current at the first compaction and replaced before the second. */
function laterChange(draw: Draw) {
  const [was, now] = [`1${draw.digits(1)} March`, `2${draw.digits(1)} April`]
  const fact: MixedFact = { kind: "changed deadline", from: "user", needles: [now], was, changesBefore: 2 }
  const exchange = (when: "before" | "after"): Exchange =>
    when === "before"
      ? asks(`The deadline for the gate is ${was}.`, "Understood.")
      : asks(`The deadline for the gate moved to ${now}.`, "Understood.")
  return { fact, exchange }
}

const text = (words: string) => ({ type: "text", text: words })
const asks = (words: string, ends: string): Exchange => ({ asks: [text(words)], answers: [], ends })

const typed = (kind: string, words: string, { needles }: Pick<MixedFact, "needles">): PlantedExchange => ({
  facts: [{ kind, from: "user", needles }],
  exchanges: [asks(words, "Understood.")],
})

const statement = (kind: string, words: string, { needles }: Pick<MixedFact, "needles">): PlantedExchange => ({
  facts: [{ kind, from: "agent", needles }],
  exchanges: [asks("What is the state?", words)],
})

interface Call {
  readonly name: string
  readonly input: object
  readonly output: string
  readonly isError?: boolean
}

function call(draw: Draw, { name, input, output, isError }: Call): Pick<Exchange, "answers" | "result"> {
  const answers = [{ type: "tool_use", id: draw.callId(), name, input }]
  return { answers, result: { content: output, ...(isError ? { isError } : {}) } }
}

const ran = (draw: Draw, { command, ...printed }: Omit<Call, "name" | "input"> & { command: string }): Exchange => ({
  ...asks(draw.of(["Look at what it says.", "Run it once more.", "What does it print?"]), "I have seen the output."),
  ...call(draw, { name: "Bash", input: { command }, ...printed }),
})

/** Output of a tool with the lines of the facts spread over it. */
function within(draw: Draw, own: readonly string[]): string {
  const all = Array.from({ length: 40 }, () => fillerLine(draw, "log"))
  own.forEach((line, at) => {
    all.splice(5 + at * 9, 0, line)
  })
  return all.join("\n")
}

type FillerStyle = "identifiers" | "source" | "tests" | "log"
const STYLES: readonly FillerStyle[] = ["identifiers", "source", "tests"]

function fillerExchange(draw: Draw): Exchange {
  const style = draw.of(STYLES)
  const output = Array.from({ length: FILLER_LINES }, () => fillerLine(draw, style)).join("\n")
  const file_path = `/work/src/${draw.of(GREEK)}/part-${draw.digits(3)}.ts`
  const made =
    style === "tests" ? { name: "Bash", input: { command: "make test" } } : { name: "Read", input: { file_path } }
  return {
    ...asks(
      draw.of(["Go on.", "Next one.", "And the next part.", "Please continue with the list."]),
      "That part is fine.",
    ),
    ...call(draw, { ...made, output }),
  }
}

/** Names that are used once. No line has a value of the kinds planted in logs. */
function fillerLine(draw: Draw, style: FillerStyle): string {
  const name = () => `${draw.of(GREEK)}_${draw.digits(4)}`
  const camel = () => `${draw.of(GREEK)}${draw.camel()}${draw.digits(2)}`
  if (style === "identifiers") return `const ${name()} = ${camel()}(${name()}, ${draw.digits(2)})`
  if (style === "source") return `export function ${camel()}(${draw.of(GREEK)}: ${draw.camel()}): void { ${name()}() }`
  if (style === "tests") return ` ✓ ${draw.of(GREEK)} ${draw.of(GREEK)} handles ${name()} (${draw.digits(2)} tests)`
  return `[gate] ${draw.of(GREEK)} worker ${draw.digits(2)} took ${name()}`
}

const GREEK = "alpha beta gamma delta epsilon zeta theta kappa lambda sigma omega".split(" ")

/**
 * The exchanges of each fact in their order, spread over the filler. The newest of a range are filler, so that no fact is preserved by
 * chance.
 */
function interleaved(planted: readonly (readonly Exchange[])[], filler: readonly Exchange[]): readonly Exchange[] {
  const waves = [planted.flatMap(([first]) => first ?? []), planted.flatMap(([, second]) => second ?? [])]
  const own = waves.flat()
  const last = 4 // number of filler exchanges after the last fact
  const all: Exchange[] = []
  const step = own.length / (filler.length - last)
  for (let at = 0; at < filler.length; at++) {
    all.push(filler[at]!)
    all.push(...own.slice(Math.round(at * step), Math.round((at + 1) * step)))
  }
  return all
}

const NAMES =
  "heron plover dunlin avocet curlew godwit whimbrel sanderling turnstone phalarope lapwing redshank greenshank snipe ruff knot".split(
    " ",
  )

/** Draws values from a seed. Each name is drawn once, so that no two facts share one. */
class Draw {
  #state: number
  #names: string[]
  #calls = 0

  constructor(seed: number) {
    this.#state = Math.imul(seed + 1, 0x9e3779b1) ^ Math.imul(seed, 0x85ebca6b)
    this.#names = [...NAMES]
  }

  #next(): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }

  callId(): string {
    return `toolu_mixed${String(++this.#calls).padStart(13, "0")}`
  }

  of<T>(list: readonly T[]): T {
    return list[Math.floor(this.#next() * list.length)]!
  }

  /** Digits of which the first is not zero. */
  digits(count: number): string {
    return Array.from(
      { length: count },
      (_, at) => Math.floor(this.#next() * (at === 0 ? 9 : 10)) + (at === 0 ? 1 : 0),
    ).join("")
  }

  hex(count: number): string {
    return Array.from({ length: count }, () => this.of([..."0123456789abcdef"])).join("")
  }

  name(): string {
    return this.#names.splice(Math.floor(this.#next() * this.#names.length), 1)[0]!
  }

  camel(): string {
    return `${this.of(["B", "D", "F", "G", "K", "L", "M"])}${this.of(["a", "e", "i", "o"])}${this.of(["r", "l", "n", "v"])}${this.of(["ix", "oq", "um", "et"])}`
  }
}

/** Blocks of the agent's answers, request by request. */
export const scriptOf = ({ answers, result, ends }: Exchange): (readonly object[])[] =>
  result ? [answers, [{ type: "text", text: ends }]] : [[...answers, { type: "text", text: ends }]]

/** Converts an exchange to messages of the Messages API. */
export function messagesOf(exchange: Exchange): readonly PlainMessage[] {
  const { asks, answers, result } = exchange
  const [first, last = first] = scriptOf(exchange)
  const question: PlainMessage = { role: "user", content: asks }
  if (!result) return [question, { role: "assistant", content: first! }]
  const { id } = answers.find((block) => "id" in block) as { id: string }
  const { content, isError } = result
  const block = { type: "tool_result", tool_use_id: id, content, ...(isError ? { is_error: true } : {}) }
  return [
    ...[question, { role: "assistant", content: answers } as const],
    ...[{ role: "user", content: [block] } as const, { role: "assistant", content: last! } as const],
  ]
}
