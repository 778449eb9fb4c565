/** The facts of `npm run planted`, as plain messages: 43 in ordinary work, and 48 of twelve kinds. */
import { type PlantedFact, plantedFacts } from "../../planted/facts.ts"
import { type Exchange, exchangeOf, otherWork, pictureOf } from "../../planted/work.ts"
import { assistant, type Block, type Corpus, type PlainMessage, type ScoredSession, user } from "../session.ts"

const BETWEEN = 6 // number of exchanges of other work before each round

const planted = (group: PlantedFact["group"], about: string): Corpus => ({
  name: group,
  about,
  sessions: () => [plantedSession(group)],
})

export const PLANTED = planted("planted", "43 facts in ordinary work with tools")
export const KINDS = planted("kinds", "48 facts of twelve kinds, some in results of 90,000 characters")

function plantedSession(group: PlantedFact["group"]): ScoredSession {
  const facts = plantedFacts().filter((fact) => fact.group === group)
  return {
    id: group,
    messages: [...spread(facts).flatMap((fact) => exchangeMessages(exchangeOf(fact))), ...work(BETWEEN, 0)],
    // no contestant can read a picture, so the picture itself must be in view
    facts: facts.map((fact) => ({
      id: fact.id,
      kind: fact.kind,
      needs: [fact.kind === "image" ? pictureOf(fact) : fact.value],
    })),
    between: (round) => work(BETWEEN, round * BETWEEN),
  }
}

const work = (count: number, from: number) =>
  Array.from({ length: count }, (_, at) => exchangeMessages(otherWork(from + at))).flat()

/** Alternates the kinds, so that none of them is only at the end. */
const spread = (facts: readonly PlantedFact[]) =>
  facts
    .map((fact, at) => ({ fact, at: (at * 37) % facts.length }))
    .toSorted((a, b) => a.at - b.at)
    .map(({ fact }) => fact)

export function exchangeMessages({ asks, answers, result, ends }: Exchange): readonly PlainMessage[] {
  const blocks = answers as readonly Block[]
  const call = blocks.find(({ type }) => type === "tool_use")
  const end: Block = { type: "text", text: ends }
  if (!call || !result) return [user(asks as readonly Block[]), assistant([...blocks, end])]
  const answered: Block = {
    ...{ type: "tool_result", tool_use_id: call.id, content: result.content },
    ...(result.isError ? { is_error: true } : {}),
  }
  return [user(asks as readonly Block[]), assistant(blocks), user([answered]), assistant([end])]
}
