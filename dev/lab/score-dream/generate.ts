/**
 * Generates a bank of memories whose truth is known: repetitions, rewordings, values that changed, and facts that only look alike. Several
 * memories share a name, and the same subject has many attributes, so neither shows which memories are duplicates.
 */
import { randomFrom } from "../memory-questions/random.ts"

/** An attribute of subjects, the sentences that state it, and values that exclude each other. `{p}` is the subject, `{v}` the value. */
interface Attribute {
  readonly name: string
  readonly ways: readonly string[]
  readonly values: readonly string[]
}

export interface PlantedMemories {
  readonly file: string
  readonly text: string
  /** The subject and the attribute. */
  readonly fact: string
  readonly value: string
  /** Whether the memory has the value that is true now. */
  readonly isTrue: boolean
  /** The sentence without its value. Memories with the same `way` differ only in the value. */
  readonly way: string
  /** Reason why the memory was planted. */
  readonly kind: "fact" | "repeated" | "reworded" | "outdated"
}

export interface Material {
  readonly attributes: readonly Attribute[]
  readonly things: readonly string[]
}

const OPENERS = ["", "", "", "Note: ", "By the way, ", "For the record: ", "Remember that "]
const CHANGES = ["", "", "Actually, ", "Update: ", "As of 2026-04-01, ", "Correction: "]
const SHARES = { repeated: 0.15, reworded: 0.15, outdated: 0.25 }

export function bankFor(
  { attributes, things }: Material,
  { seed, size }: { readonly seed: number; readonly size: number },
): readonly PlantedMemories[] {
  const random = randomFrom(seed)
  const pairs = random.shuffled(
    things.flatMap((thing) => teams(thing).flatMap((p) => attributes.map((attribute) => ({ p, attribute })))),
  )
  const planted: PlantedMemories[] = []
  const day = (from: number, to: number) =>
    new Date(Date.UTC(2026, 0, 1 + from + random.below(to - from))).toISOString().slice(0, 10)
  const add = (
    p: string,
    { name, ways }: Attribute,
    facts: { value: string; day: string; way?: string; opening?: string } & Pick<PlantedMemories, "isTrue" | "kind">,
  ) => {
    const { value, opening = random.pick(OPENERS), isTrue, kind } = facts
    const way = facts.way ?? random.pick(ways)
    const sentence = capital(way.replaceAll("{p}", p).replaceAll("{v}", value))
    const body = opening === "" ? sentence : opening + lower(sentence, way.startsWith("{v}") ? value : p)
    const title = random.pick([p, name, `${name} of ${p}`, "Note", "Project facts"])
    const file = `m-${planted.length}.md`
    const dated = `created: ${facts.day}\nconfirmed: ${facts.day}\n`
    const text = `---\nname: ${JSON.stringify(title)}\ndescription: ${JSON.stringify(body)}\ntype: project\n${dated}---\n\n${body}\n`
    planted.push({ file, text, fact: `${p}/${name}`, value, way, isTrue, kind })
  }
  for (const { p, attribute } of pairs) {
    if (planted.length >= size) break
    const [value, old] = random.shuffled(attribute.values)
    const way = random.pick(attribute.ways)
    const dice = random.next()
    add(p, attribute, {
      value: value!,
      day: day(60, 100),
      way,
      isTrue: true,
      kind: "fact",
      ...(dice > 1 - SHARES.outdated ? { opening: random.pick(CHANGES) } : {}),
    })
    if (dice < SHARES.repeated)
      add(p, attribute, { value: value!, day: day(0, 100), way, isTrue: true, kind: "repeated" })
    else if (dice < SHARES.repeated + SHARES.reworded) {
      const other = attribute.ways.find((one) => one !== way)
      if (other !== undefined)
        add(p, attribute, { value: value!, day: day(0, 100), way: other, isTrue: true, kind: "reworded" })
    } else if (dice > 1 - SHARES.outdated && old !== undefined)
      add(p, attribute, {
        value: old!,
        day: day(0, 50),
        ...(random.next() < 0.7 ? { way } : {}),
        isTrue: false,
        kind: "outdated",
      })
  }
  return planted
}

/** The same subject for several teams, for facts that differ in one word of their subject. */
const teams = (thing: string): readonly string[] => [thing, `${thing} in Lisbon`, `${thing} for partners`, `${thing} 2`]

const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1)
const lower = (text: string, p: string): string =>
  text.startsWith(capital(p)) ? p + text.slice(p.length) : text.charAt(0).toLowerCase() + text.slice(1)
