/** The simulated web: a few pages that never change. Search matches their text. */

export interface WebPage {
  readonly url: string
  readonly title: string
  readonly text: string
  /** The age in the format of search results, such as "April 30, 2026". */
  readonly age?: string
}

const MAX_RESULTS = 5

export const DEFAULT_PAGES: readonly WebPage[] = [
  {
    url: "https://docs.example.com/context-windows",
    title: "Context windows explained",
    text: "A context window is the text a model can see at once. Older messages must be summarised or put aside when it is full.",
    age: "April 30, 2026",
  },
  {
    url: "https://docs.example.com/prompt-caching",
    title: "How prompt caching works",
    text: "A prompt cache stores the prefix of a request. A request that repeats the prefix byte for byte is read from the cache at a lower price.",
    age: "May 12, 2026",
  },
  {
    url: "https://docs.example.com/tool-use",
    title: "Tool use in three steps",
    text: "Declare tools with a schema. Run the calls the model makes. Send the results back in the next message.",
    age: "June 3, 2026",
  },
  {
    url: "https://news.example.org/typescript-release",
    title: "A new TypeScript release",
    text: "The release checks programs ten times faster. Types are erased, so Node runs the files as they are.",
    age: "September 1, 2026",
  },
  {
    url: "https://weather.example.net/paris",
    title: "Weather in Paris",
    text: "Paris: 14 degrees and light rain in the morning, dry in the afternoon, wind from the west.",
  },
]

/** Pages that share terms with the query, best first. A query that matches no page gets the first pages, because any search has results. */
export function searchPages(pages: readonly WebPage[], query: string): readonly WebPage[] {
  const wanted = wordsIn(query)
  const scored = pages.map((page) => {
    const own = wordsIn(`${page.title} ${page.text} ${page.url}`)
    return { page, score: [...wanted].filter((word) => own.has(word)).length }
  })
  const found = scored.filter(({ score }) => score > 0).toSorted((a, b) => b.score - a.score)
  return (found.length > 0 ? found : scored).slice(0, MAX_RESULTS).map(({ page }) => page)
}

const wordsIn = (text: string): ReadonlySet<string> => new Set(text.toLowerCase().match(/[\p{L}\p{N}]{3,}/gu) ?? [])
