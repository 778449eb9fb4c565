/** Facts about software projects, for choosing weights. `{p}` is a component. */
import { type FactKind, kind } from "./fact-kind.ts"

export const PROJECT_CHOSEN: readonly FactKind[] = [
  kind("port", {
    topic: "the choice of the port",
    questions: ["Which port does {p} listen on?", "What is the port of {p}?"],
    said: ["{p} listens on port {v}, I put it into the compose file.", "I changed the port of {p} to {v}."],
    asked: [
      ["Which port should {p} listen on?", "{v}, the old one is taken."],
      ["What port is {p} on?", "It's {v} everywhere, also locally."],
    ],
    otherwise: ["You reach {p} at localhost:{v}.", "EXPOSE {v} is in the Dockerfile of {p} now."],
    follow: ["Fine, I'll open that port in the firewall.", "Then what listens there now has to move."],
    passing: [
      "The port to the new compiler is done.",
      "Something is listening on an open port, but it's only the debugger.",
    ],
    values: "7071; 9443; 8065; 5180; 6390",
  }),
  kind("database", {
    topic: "choosing the database",
    questions: ["Which database does {p} use?", "Where does {p} store its data?"],
    said: ["{p} uses {v} as its database.", "We store the data of {p} in {v}."],
    asked: [
      ["Which database do we use for {p}?", "{v}. We know it well."],
      ["Where should {p} store its data?", "In {v}, as agreed."],
    ],
    otherwise: ["The tables of {p} live in {v}.", "I set up {v} for {p}, with a nightly dump."],
    follow: ["A boring database is a good database.", "Does that store the old data too?"],
    passing: ["The database course starts on Tuesday.", "Store the keys in the safe, please."],
    values: "Postgres 16; SQLite; CockroachDB; DynamoDB; MariaDB",
  }),
  kind("owner", {
    topic: "naming the owner",
    questions: ["Who owns {p}?", "Who is responsible for {p}?"],
    said: ["{v} owns {p} from now on.", "For {p}, {v} is responsible."],
    asked: [
      ["Who owns {p}? I have a question.", "Ask {v}."],
      ["Who is responsible for {p} these days?", "{v}, since the reorganisation."],
    ],
    otherwise: ["Send reviews of {p} to {v}.", "{v} took over {p} last sprint."],
    follow: ["Good, it needed an owner.", "Then I know who is responsible."],
    passing: ["Own the problem, they say.", "The owner of the café asked about our logo."],
    values: "Ines; Bartek; the platform team; Chidi; Solveig",
  }),
  kind("test-command", {
    topic: "fixing the test command",
    questions: ["How do I run the tests of {p}?", "Which command runs the {p} tests?"],
    said: ["Run the tests of {p} with `{v}`.", "The command for the {p} tests is `{v}`."],
    asked: [
      ["How do I run the tests of {p}?", "`{v}`, from the root."],
      ["Is there a command to test {p} alone?", "Yes, `{v}`."],
    ],
    otherwise: ["`{v}` checks {p} in about a minute.", "In CI, {p} is verified by `{v}`."],
    follow: ["Let me run the tests right away.", "I'll put the command into the readme."],
    passing: ["All tests are green.", "I ran the tests again, nothing new."],
    values: "npm run check:unit; make verify; pnpm vitest --project core; cargo nextest run; ./scripts/smoke.sh",
  }),
  kind("flag", {
    topic: "adding the feature flag",
    questions: ["Which feature flag turns on {p}?", "What flag controls {p}?"],
    said: ["The flag for {p} is {v}.", "{p} is controlled by the feature flag {v}."],
    asked: [
      ["What flag turns on {p}?", "{v}, default off."],
      ["Is {p} under a feature flag?", "Yes: {v}."],
    ],
    otherwise: ["Set {v} to true and {p} starts.", "{v}=1 in the environment switches {p} on."],
    follow: ["We should remove that flag in spring.", "Who turns it on in production?"],
    passing: ["The red flag in the chart is a rounding error.", "We turned off the old alerts."],
    values: "ENABLE_FAST_LANE; use_shadow_writes; betaCheckout; STRICT_PARSING; lazyHydration",
  }),
  kind("error", {
    topic: "tracking down the error",
    questions: ["What error did {p} fail with?", "Which error code does {p} return?"],
    said: ["{p} fails with error {v} at startup.", "The error code of {p} is {v}."],
    asked: [
      ["What error do you get from {p}?", "{v}, every second time."],
      ["Which code does {p} return when it fails?", "{v}, nothing else in the log."],
    ],
    otherwise: ["{p} crashed again: {v}.", "The log of {p} is full of {v}."],
    follow: ["I have seen that error before.", "A better error code would help."],
    passing: ["It was my error, sorry.", "The code review is done."],
    values: "ECONNRESET; E4017; SQLITE_BUSY; HTTP 429; ERR_INVALID_STATE",
  }),
  kind("file", {
    topic: "moving the configuration",
    questions: ["In which file is {p} configured?", "Where is the configuration of {p}?"],
    said: ["{p} is configured in {v}.", "The configuration file of {p} is {v}."],
    asked: [
      ["Where is the configuration of {p}?", "{v}, next to the schema."],
      ["Which file configures {p}?", "Look at {v}."],
    ],
    otherwise: ["Edit {v} to change how {p} behaves.", "All knobs of {p} moved to {v}."],
    follow: ["The configuration was all over the place before.", "I'll read that file first."],
    passing: ["The file is too large for the editor.", "Configure your editor first."],
    values: "config/parseRules.ts; deploy/values.yaml; src/retry_policy.json; settings/limits.toml; infra/main.bicep",
  }),
  kind("decision", {
    topic: "the decision about the approach",
    questions: ["What did we decide about {p}?", "Which approach did we choose for {p}?"],
    said: ["We decided: {p} gets {v}.", "For {p} we chose this approach: {v}."],
    asked: [
      ["What did we decide about {p}?", "{v}. It's in the minutes."],
      ["Which approach do we take for {p}?", "{v}, simplest thing that works."],
    ],
    otherwise: ["Let's go with {v} in {p} and revisit it in a quarter.", "{p}: {v} it is, everyone agreed."],
    follow: ["Good that it's decided.", "I like the approach."],
    passing: ["We should decide where to eat.", "That approach to meetings is new."],
    values: "event sourcing; a plain cron job; optimistic locking; a single writer; server-side rendering",
  }),
  kind("deadline", {
    topic: "setting the deadline",
    questions: ["When must {p} be finished?", "What is the deadline for {p}?"],
    said: ["The deadline for {p} is {v}.", "{p} must be finished by {v}."],
    asked: [
      ["When must {p} be finished?", "{v}, no extension."],
      ["Is there a deadline for {p}?", "{v}."],
    ],
    otherwise: ["The customer expects {p} on {v}.", "We ship {p} on {v}, come what may."],
    follow: ["That deadline is close.", "We can be finished earlier, I think."],
    passing: ["I finished the tea.", "Deadlines make a nice sound as they fly by."],
    values: "the 14th; the end of the quarter; the code freeze; the trade fair; release 4.2",
  }),
  kind("rule", {
    topic: "agreeing on the rule",
    questions: ["Which rule applies to changes in {p}?", "What should I keep in mind when changing {p}?"],
    said: ["A rule for changes in {p}: {v}.", "When you change {p}, keep in mind: {v}."],
    asked: [
      ["What should I keep in mind when I change {p}?", "{v}, always."],
      ["Is there any rule for {p}?", "{v}. I was bitten twice."],
    ],
    otherwise: ["Never touch {p} casually: {v}.", "{v}, please, whenever you edit {p}."],
    follow: ["A rule like that should be in the guide.", "I'll keep it in mind."],
    passing: ["I don't mind the noise.", "As a rule I eat at noon."],
    values:
      "no default exports; migrations go in pairs; ask before adding a dependency; snapshots are written by hand; no timers in tests",
  }),
]

export const COMPONENTS_CHOSEN: readonly (readonly [written: string, asked: string])[] = [
  ["billing-worker", "the billing worker"],
  ["searchGateway", "the search gateway"],
  ["the importer", "the importer"],
  ["staging", "staging"],
  ["audit_log", "the audit log"],
  ["ReportBuilder", "the report builder"],
  ["the mobile app", "the mobile app"],
  ["session-cache", "session-cache"],
]
