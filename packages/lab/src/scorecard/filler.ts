/** Talk and work that no one needs later. */
import { otherWork } from "../planted/work.ts"
import { exchangeMessages } from "./corpora/planted.ts"
import { type PlainMessage, said, user } from "./session.ts"

const REMARKS = [
  "Let us go through the folders of the import service once more.",
  "The retries wait twice as long each time, up to half a minute.",
  "We talked about the cache headers of the picture route last week.",
  "A small check of the status page after each deploy would be useful.",
  "The helper that lists all rows got a clearer name on Monday.",
  "The load test was calm, without a single error on the small cluster.",
  "The draft about outgoing hooks still has an open section.",
  "One library is pinned, since the imaging code needs the older one.",
  "The team likes the two latency charts next to each other.",
  "Yesterday was about the schema, today is about tests.",
  "The list for new colleagues is mostly about accounts.",
  "The queue puts a message aside after the third failure.",
]

/** Remarks of the user with a short answer each. */
export const remarks = (count: number, from: number): readonly PlainMessage[] =>
  Array.from({ length: count }, (_, at) => [
    user(REMARKS[(from + at) % REMARKS.length]!),
    said("Understood. I go on with the plan."),
  ]).flat()

/** Exchanges with tools: files that are read and commands that run, with names of their own. */
export const work = (count: number, from: number): readonly PlainMessage[] =>
  Array.from({ length: count }, (_, at) => exchangeMessages(otherWork(from + at))).flat()
