/** What long work with an assistant is about: a theme, and its aspects with the words that recur in all talk about it. */
export interface Aspect {
  readonly name: string
  /** What can be done or used there. */
  readonly means: readonly string[]
  /** What has a value that may change later. */
  readonly measure: string
  readonly unit: string
  readonly person: string
}

export interface Theme {
  readonly about: string
  readonly aspects: readonly Aspect[]
}

/** `name | means, means, means | measure | unit | person` */
const theme = (about: string, rows: string): Theme => ({
  about,
  aspects: rows
    .trim()
    .split("\n")
    .map((row) => {
      const [name, means, measure, unit, person] = row.split("|").map((part) => part.trim())
      return { name: name!, means: means!.split(", "), measure: measure!, unit: unit!, person: person! }
    }),
})

export const THEMES_CHOSEN: readonly Theme[] = [
  theme(
    "my recipe app",
    `the login page | magic links, passkeys, session cookies | login attempts limit | tries | Bodil
the ingredient search | trigram matching, a synonym list, facets | search response time | ms | Marcus
the shopping list sync | a merge by timestamp, a queue, web sockets | sync interval | seconds | Wei
the photo upload | resumable chunks, thumbnails, a size check | upload limit | MB | Ines
the test suite | snapshot checks, a seeded database, contract checks | test coverage | percent | Tariq
the release plan | a canary, feature switches, a freeze week | release budget | dollars | Lena`,
  ),
  theme(
    "my move to Porto",
    `the flat hunt | a broker, viewings by video, a shortlist | rent limit | euros | Joana
the visa papers | an apostille, bank statements, a checklist | savings requirement | euros | Rui
the shipping of furniture | a shared container, pallets, storage | shipping quote | euros | Edda
the language course | flash cards, a tandem partner, podcasts | study time | minutes a day | Tomas
the school for the kids | an open day, a waiting list, tutoring | class size | pupils | Carla
the farewell party | a picnic, a playlist, a rented hall | guest count | guests | Otto`,
  ),
  theme(
    "my statistics thesis",
    `the literature review | a reading log, citation chains, tags | papers read | papers | Farid
the survey design | a pilot round, a Likert scale, skip logic | survey length | questions | Greta
the regression model | ridge penalties, interaction terms, a holdout | sample size | people | Imani
the chapter drafts | an outline, daily pages, peer review | word target | words | Luca
the talks with the committee | slides, a rehearsal, a one page brief | talk length | minutes | Sunniva
the defence | mock questions, a timeline, backup slides | preparation time | days | Pavel`,
  ),
]

export const THEMES_HELD_OUT: readonly Theme[] = [
  theme(
    "my bike rental site",
    `the booking calendar | drag selection, locked slots, a waiting list | booking horizon | weeks | Nadia
the payment flow | tokenised cards, webhooks, a retry rule | refund window | days | Kofi
the map of stations | clustered markers, offline tiles, a heat layer | tile cache size | GB | Mirja
the email reminders | a job queue, plain text mails, quiet hours | reminder lead time | hours | Sven
the damage reports | guided photos, a checklist form, a score | report backlog | reports | Chiara
the hosting move | a read replica, blue green switching, a dry run | hosting bill | dollars | Paolo`,
  ),
  theme(
    "my marathon training",
    `the weekly schedule | rest days, tempo runs, a rolling plan | weekly distance | km | Hedda
the diet | oat porridge, iron tablets, a food diary | protein goal | grams | Bruno
the knee recovery | physiotherapy, foam rolling, taping | therapy sessions | sessions | Amara
the running gear | carbon shoes, a chest strap, merino socks | gear spending | dollars | Yuto
the race logistics | a night train, a bib pickup, a hostel | travel cost | euros | Selma
the fundraising | a donation page, a raffle, sponsors | donation total | dollars | Goran`,
  ),
  theme(
    "my small bakery",
    `the sourdough line | a cold proof, rye starter, steam injection | proofing time | hours | Wanda
the staff rota | split shifts, a swap board, apprentices | staff hours | hours | Idris
the supplier contracts | fixed prices, a second mill, monthly orders | flour price | euros a sack | Petra
the shop refit | oak shelves, a glass counter, warm lights | refit cost | euros | Lennart
the loyalty cards | stamps, a phone code, birthday buns | card holders | customers | Noor
the hygiene audit | a cleaning log, probe thermometers, training | audit score | points | Viktor`,
  ),
]
