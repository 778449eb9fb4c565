/** Facts about software projects that no weight was chosen on. `{p}` is a component. */
import { type FactKind, kind } from "./fact-kind.ts"

export const PROJECT_HELD_OUT: readonly FactKind[] = [
  kind("queue", {
    topic: "choosing the message queue",
    questions: ["Which queue does {p} read from?", "Where do the messages of {p} come from?"],
    said: ["{p} reads its messages from {v}.", "The queue of {p} is {v}."],
    asked: [
      ["Which queue does {p} read?", "{v}, with one consumer."],
      ["Where do the messages of {p} come from?", "From {v}."],
    ],
    otherwise: ["{p} subscribes to {v} now.", "I hooked {p} up to {v}, back-pressure included."],
    follow: ["Does the queue keep the order?", "Then no message gets lost."],
    passing: ["There was a queue at the bakery.", "I read your message."],
    values: "orders.v2; a Redis stream; RabbitMQ; the nightly-batch topic; SQS",
  }),
  kind("timeout", {
    topic: "raising the timeout",
    questions: ["What is the timeout of {p}?", "After how long does {p} time out?"],
    said: ["The timeout of {p} is {v}.", "{p} times out after {v}, I raised it."],
    asked: [
      ["After how long does {p} time out?", "{v}. It was half of that before."],
      ["Which timeout did you set for {p}?", "{v}, to be safe."],
    ],
    otherwise: ["{p} gives up after {v}.", "A call to {p} may take {v} and no longer."],
    follow: ["A timeout that long hides problems.", "Let's see if it still times out."],
    passing: ["It's about time.", "I was out for lunch."],
    values: "45 seconds; 1500 ms; two minutes; 300 ms; a quarter of an hour",
  }),
  kind("library", {
    topic: "replacing the library",
    questions: ["Which library does {p} use for parsing?", "What do we parse with in {p}?"],
    said: ["In {p} we parse with {v}.", "The parsing library of {p} is {v}."],
    asked: [
      ["Which library parses the input in {p}?", "{v}, we wrapped it."],
      ["What do we use for parsing in {p}?", "{v}. The other one was too slow."],
    ],
    otherwise: ["I added {v} to {p}, no hand-written grammar any more.", "{p} depends on {v} now, pinned."],
    follow: ["Is that library maintained?", "Parsing by hand was a mistake anyway."],
    passing: ["The library closes at six.", "I can't parse that sentence."],
    values: "chevrotain; tree-sitter; papaparse; saxes; acorn",
  }),
  kind("region", {
    topic: "moving to the region",
    questions: ["In which region is {p} deployed?", "Where do we deploy {p}?"],
    said: ["We deploy {p} to {v}.", "{p} is deployed in the region {v}."],
    asked: [
      ["Where is {p} deployed?", "{v}, because of the data rules."],
      ["Which region do we deploy {p} to?", "{v} only."],
    ],
    otherwise: ["The machines of {p} are in {v}.", "{p} runs in {v}, close to the customers."],
    follow: ["Another region would cost less.", "Then I'll deploy it there."],
    passing: ["The deployment took ages.", "The whole region was without power, said the radio."],
    values: "eu-north-1; westus3; ap-southeast-2; Falkenstein; europe-west6",
  }),
  kind("bug", {
    topic: "finding the cause of the bug",
    questions: ["What caused the bug in {p}?", "What was the cause of the failure in {p}?"],
    said: ["The cause of the bug in {p} was {v}.", "The failure of {p} was caused by {v}."],
    asked: [
      ["Did you find the cause of the bug in {p}?", "{v}. One line."],
      ["What caused that failure in {p}?", "It was {v}, as I feared."],
    ],
    otherwise: ["{p} broke because of {v}.", "It was {v} all along that made {p} misbehave."],
    follow: ["What a nasty bug.", "The cause is always the last thing you look at."],
    passing: ["There's a bug on the window.", "No cause for alarm."],
    values:
      "an off-by-one in splitRange; a stale DNS entry; daylight saving; a missing await; integer overflow in byte_count",
  }),
  kind("naming", {
    topic: "agreeing on the branch name",
    questions: ["What is the naming convention for branches of {p}?", "How do we name branches in {p}?"],
    said: ["Branches of {p} are named {v}.", "The naming convention in {p} is {v}."],
    asked: [
      ["How do we name branches in {p}?", "{v}, the hook checks it."],
      ["Is there a naming convention for {p}?", "Yes, {v}."],
    ],
    otherwise: ["Please push to {v} when you work on {p}.", "In {p}, only {v} passes the hook."],
    follow: ["A naming convention, finally.", "I have three branches to rename."],
    passing: ["Name your price.", "The bank closed its branch here."],
    values: "feat/<ticket>; <initials>-<topic>; release/x.y; wip-<date>; fix_<issue>",
  }),
  kind("budget", {
    topic: "setting the budget",
    questions: ["What is the memory budget of {p}?", "How much memory may {p} use?"],
    said: ["{p} may use {v} of memory.", "The memory budget of {p} is {v}."],
    asked: [
      ["How much memory may {p} use?", "{v}, the container is killed above it."],
      ["Is there a memory limit on {p}?", "{v}."],
    ],
    otherwise: ["I capped {p} at {v}.", "{p} never needs more than {v} of RAM."],
    follow: ["Memory is cheap, but not that cheap.", "The budget sounds tight."],
    passing: ["The budget for the party is small.", "I have a bad memory for names."],
    values: "512 MB; 2 GB; 96 MB; 1.5 GB; 768 MB",
  }),
  kind("dashboard", {
    topic: "building the dashboard",
    questions: ["Where is the dashboard of {p}?", "Where do I see the metrics of {p}?"],
    said: ["The dashboard of {p} is at {v}.", "You see the metrics of {p} in {v}."],
    asked: [
      ["Where is the dashboard of {p}?", "{v}, ask for access."],
      ["Do we have metrics of {p} anywhere?", "In {v}, since May."],
    ],
    otherwise: ["{v} shows how {p} is doing.", "I watch {p} on {v} during a rollout."],
    follow: ["A dashboard is worth a lot at night.", "Which metrics are on it?"],
    passing: ["The dashboard of the rental car was broken.", "I don't see the point."],
    values: "grafana/d/7hKq; the Honeycomb board; Kibana; status.internal; the wallboard in room 3",
  }),
  kind("dead-end", {
    topic: "giving up the attempt",
    questions: ["What did we try in {p} that did not work?", "Which attempt failed in {p}?"],
    said: ["We tried {v} in {p}, and it did not work.", "The attempt with {v} failed in {p}."],
    asked: [
      ["What did you try in {p}?", "{v}, and reverted it the same day."],
      ["Which attempt failed in {p}?", "{v}. Don't go there again."],
    ],
    otherwise: ["{v} was a dead end for {p}.", "I backed out {v} from {p}, it made things worse."],
    follow: ["At least we tried.", "A failed attempt teaches something too."],
    passing: ["It was worth a try.", "It works on my machine."],
    values: "worker threads; a bloom filter; HTTP/3; memoising the selector; sharding by tenant",
  }),
  kind("credential", {
    topic: "rotating the credentials",
    questions: ["Where are the credentials of {p} kept?", "Who rotates the credentials of {p}?"],
    said: ["The credentials of {p} are kept in {v}.", "Credentials for {p} rotate through {v}."],
    asked: [
      ["Where are the credentials of {p}?", "In {v}, never in the repository."],
      ["How do we keep the credentials of {p}?", "{v} does that."],
    ],
    otherwise: ["Log in to {p} with what {v} gives you.", "{v} hands out passwords for {p}."],
    follow: ["Credentials in a chat would be worse.", "Who rotates them?"],
    passing: ["Keep calm.", "We rotate who makes the coffee."],
    values: "Vault; 1Password; the sealed-secrets chart; AWS Secrets Manager; sops",
  }),
]

export const COMPONENTS_HELD_OUT: readonly (readonly [written: string, asked: string])[] = [
  ["payment-relay", "the payment relay"],
  ["imageResizer", "the image resizer"],
  ["the scheduler", "the scheduler"],
  ["production", "production"],
  ["event_store", "the event store"],
  ["NotificationHub", "the notification hub"],
  ["the landing page", "the landing page"],
  ["edge-proxy", "edge-proxy"],
]
