import { expect, test } from "vitest"
import { html } from "../markup.ts"
import { type ListShape, listMarkup, parseListQuery, selectRows } from "./list.ts"

interface City {
  readonly name: string
  readonly people?: number
  readonly country: string
}

const CITIES: readonly City[] = Array.from({ length: 120 }, (_, i) => ({
  name: `City ${i}`,
  ...(i === 7 ? {} : { people: (i * 37) % 120 }),
  country: i % 3 === 0 ? "north" : "south",
}))

const SHAPE: ListShape<City> = {
  columns: [
    {
      key: "name",
      title: "city",
      cell: ({ name }) => html`<b>${name}</b>`,
      isText: true,
      sort: "ascending",
      value: ({ name }) => name,
    },
    {
      key: "people",
      title: "people",
      cell: ({ people = "-" }) => String(people),
      sort: "descending",
      value: ({ people }) => people,
    },
    { key: "note", title: "note", cell: () => "" },
  ],
  filters: [
    {
      key: "country",
      title: "Country",
      options: ["north", "south"].map((value) => ({ value, title: value })),
      matches: ({ country }, value) => country === value,
    },
  ],
  order: { key: "people", direction: "descending" },
}

function list(search: string, all = CITIES) {
  const query = parseListQuery(new URLSearchParams(search), SHAPE)
  const page = selectRows(all, { query, shape: SHAPE, text: ({ name }) => name })
  const markup = listMarkup({
    ...{ ...page, path: "/p/", shape: SHAPE, query, anchor: "cities" },
    ...{ caption: "Cities", searchLabel: "Search", noMatch: "No city has these words." },
  })
  return { ...page, query, markup: markup.toString() }
}

test("BEY-15 a list is sorted by the title that was clicked, and rows without a value are last in both directions", () => {
  expect(list("").rows[0]).toMatchObject({ people: 119 })
  expect(list("sort=people&order=ascending").rows[0]).toMatchObject({ people: 0 })
  for (const order of ["ascending", "descending"]) {
    const { rows } = list(`sort=people&order=${order}&page=5`)
    expect(rows.at(-1)).toMatchObject({ name: "City 7" })
  }
  expect(list("sort=name").markup).toMatch(
    /aria-sort="ascending"><a id="sort-name" href="\/p\/\?sort=name&amp;order=descending#cities">/,
  )
  expect(list("").markup).toMatch(
    /aria-sort="descending"><a id="sort-people" href="\/p\/\?sort=people&amp;order=ascending#cities">/,
  )
})

test("BEY-15 a page has at most 25 rows, and a page after the last shows the last", () => {
  expect(list("").rows.length).toBe(25)
  expect(list("page=5")).toMatchObject({ rows: { length: 20 }, total: 120 })
  expect(list("page=9").markup).toContain("101 to 120 of 120")
  expect(list("page=2&country=south&q=city").markup).toContain('href="/p/?q=city&amp;country=south#cities">First</a>')
  expect(list("", CITIES.slice(0, 25)).markup).not.toContain("Pages of the list")
})

test("BEY-15 words and filters narrow a list together, and can be removed again", () => {
  const { rows, total, markup } = list("q=CITY+3&country=north")
  expect(total).toBe(rows.length)
  expect(rows.every(({ name, country }) => name.includes("3") && country === "north")).toBe(true)
  expect(markup).toContain('<option value="north" selected>')
  expect(markup).toContain('<a href="/p/#cities">Show all</a>')
  expect(list("q=nowhere").markup).toContain("No city has these words.")
})

test("BEY-15 invalid values of an address are ignored", () => {
  const { query } = list("sort=note&order=sideways&page=-1&country=moon&q=")
  expect(query).toEqual({ text: "", order: SHAPE.order, page: 1, filters: {} })
  expect(list("sort=people&order=sideways").query.order).toEqual({ key: "people", direction: "descending" })
  expect(list(`q=${"x".repeat(2_000)}`).query.text.length).toBe(500)
})
