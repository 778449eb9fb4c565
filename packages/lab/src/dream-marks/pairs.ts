/**
 * Pairs of sentences that one person says one after the other. `REPLACED`: the later one says plainly that something changed, so the earlier
 * one is over. `SIDE_BY_SIDE`: both are true. The held-out ones were written before facts were compared by their attribute.
 */
export interface Pair {
  readonly earlier: string
  readonly later: string
}

const pairs = (text: string): readonly Pair[] =>
  text
    .trim()
    .split("\n")
    .map((line) => line.split(" | "))
    .map(([earlier, later]) => ({ earlier: earlier!.trim(), later: later!.trim() }))

export const REPLACED_CHOSEN = pairs(`
The deadline is April 20. | We moved the deadline to May 3.
Bo leads the payments team. | Ana took over the payments team from Bo.
We use Jest. | We switched from Jest to Vitest.
The limit is 50. | The limit is now 80.
I live in Paris. | I moved to Berlin.
I work at Acme. | I now work at Globex.
Call me Bob. | Call me Robert from now on.
Answer in English. | From now on, answer in German.
Never deploy on Fridays. | Deploying on Fridays is fine from now on.
The staging database is Postgres 14. | We upgraded the staging database to Postgres 16.
The stand-up is at 9:30. | The stand-up is now at 10:00.
Our CI runs on Jenkins. | We replaced Jenkins with Buildkite.
The release is planned for June 1. | The release slipped to June 15.
Carla is the product owner. | Dmitri is the new product owner.
The office is in Ghent. | The office has moved to Leuven.
We pay 40 euros a month for hosting. | We now pay 65 euros a month for hosting.
Use tabs. | Use spaces instead of tabs.
The app requires Node 20. | As of this week the app requires Node 24.
Reviews need two approvals. | Reviews no longer need two approvals.
My manager is Ruth. | My manager is Paolo now.
`)

export const REPLACED_HELD_OUT = pairs(`
The launch is on September 9. | The launch was pushed back to October 2.
Noor is on call for billing. | Henrik took over from Noor.
We track time in Toggl. | We moved from Toggl to Clockify.
The upload quota is 20 GB. | They raised the upload quota to 50 GB.
I live in Leeds with my sister. | I've moved to Bristol.
I'm a junior analyst at Corvus. | I got promoted to senior analyst at Corvus.
My phone number is 555-0142. | My new phone number is 555-0188.
Always write the changelog in French. | Write the changelog in English from now on.
Don't touch the legacy folder. | It's okay to touch the legacy folder now.
The retro is on Thursdays. | We changed the retro to Tuesdays.
Our payment provider is Adyen. | We dropped Adyen in favour of Stripe.
The cluster runs Kubernetes 1.28. | The cluster is running Kubernetes 1.31 since yesterday.
Priya maintains the search service. | Priya handed the search service over to Tomasz.
The budget for the offsite is $4,000. | The budget for the offsite was cut to $2,500.
Support is open until 18:00. | Support is open until 20:00 as of Monday.
The mascot is a heron. | Correction: the mascot is a crane, not a heron.
We host the docs on Netlify. | The docs are hosted on Cloudflare now instead of Netlify.
My surname is Keller. | I got married, my surname is now Brandt.
The trial lasts 14 days. | The trial was extended to 30 days.
The coverage goal is 70%. | Our coverage goal has gone up from 70% to 85%.
`)

export const SIDE_BY_SIDE_CHOSEN = pairs(`
I speak German. | I speak Polish.
My daughter is Lea. | My daughter is Nina.
The app runs in Frankfurt. | The app runs in Dublin.
Our customers are in Spain. | Our customers are in Italy.
#ops is where outages are discussed. | #ops-eu is where outages in Europe are discussed.
Ana lives in Bergen. | Bo lives in Cork.
I have a cat named Miso. | I have a cat named Tofu.
We use Postgres. | We use Redis.
My friend Ana works at Acme. | I work at Globex.
I like hiking. | I like chess.
The port of Orion is 5010. | The port of Vega is 5020.
The timeout is 30 seconds in production. | The timeout is 60 seconds in staging.
Never deploy on Fridays. | Never deploy on weekends.
Answer in German. | Write commit messages in English.
I'm allergic to nuts. | I'm allergic to penicillin.
Bo reviews the API. | Ana reviews the API.
My brother lives in Oslo. | I moved to Berlin.
We ship to Norway. | We ship to Sweden.
I was born in Lyon. | I live in Paris.
The web team uses Jest. | The mobile team switched from Mocha to Vitest.
`)

export const SIDE_BY_SIDE_HELD_OUT = pairs(`
I play the cello. | I play the oboe.
My son is Emil. | My son is Jakob.
The newsletter goes out in English. | The newsletter goes out in Dutch.
Our investors are in Zurich. | Our investors are in Boston.
The wiki is where decisions are recorded. | The board is where tasks are recorded.
Marta works at the bakery. | Igor works at the library.
My doctor is Dr. Hale. | My dentist is Dr. Sato.
I teach at the university. | I teach at the night school.
The backup of the shop runs at 02:00. | The backup of the blog runs at 03:00.
We deploy on Tuesdays. | We deploy on Thursdays.
I have a house in Porto. | I have a house in Faro.
Ship the report as PDF. | Ship the invoice as XML.
Never email the client directly. | Now email me the summary.
Grace is a member of the board. | Now Otto is a member of the board.
The kitchen moved to the first floor. | The office is on the third floor.
My sister moved to Madrid. | I live in Lisbon.
The front end is written in TypeScript. | The back end is now written in Go.
My favourite films are old westerns. | My favourite books are crime novels.
The red line stops at the harbour. | The red line stops at the museum.
Our accountant is in Malmö. | Our lawyer is now in Lund.
`)
