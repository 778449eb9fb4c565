/**
 * What people in the generated dialogues tell each other. A question uses other words than the answer wherever people would. Often the turn
 * before the evidence holds the words that a question repeats, as in real talk.
 */

export interface FactKind {
  readonly name: string
  /** What the other person says first. */
  readonly cues: readonly string[]
  /** The evidence. `{v}` is the value. */
  readonly tellings: readonly string[]
  /** `{p}` is the person's name. */
  readonly questions: readonly string[]
  readonly values: readonly string[]
}

const kind = (
  name: string,
  {
    cues,
    tellings,
    questions,
    values,
  }: Record<"cues" | "tellings" | "questions", readonly string[]> & { values: string },
): FactKind => ({ name, cues, tellings, questions, values: values.split("; ") })

export const FACT_KINDS: readonly FactKind[] = [
  kind("pet", {
    cues: [
      "So who is that little fellow in the picture?",
      "Did you bring the new family member home?",
      "Any animals around the house these days?",
    ],
    tellings: [
      "That's {v}, we picked her up from the shelter!",
      "Meet {v}! She already owns the sofa.",
      "Yes, {v} moved in and chews everything.",
    ],
    questions: ["What is {p}'s pet called?", "Which animal did {p} adopt?", "What name did {p} give the dog or cat?"],
    values:
      "a beagle named Biscuit; a tabby called Miso; a parrot named Kiwi; a greyhound named Comet; a rabbit called Clover; a tortoise named Atlas",
  }),
  kind("job", {
    cues: ["How did the interview go?", "Any news about work?", "Did they call you back?"],
    tellings: [
      "They made me an offer, I start as {v} next month!",
      "I signed yesterday. From now on I'm {v}.",
      "Yes! You are talking to {v}.",
    ],
    questions: ["What is {p}'s new position?", "What does {p} do for a living now?", "Which career did {p} move into?"],
    values:
      "a museum curator; a paediatric nurse; a data analyst at a bank; a landscape architect; a sound engineer; a patent examiner",
  }),
  kind("trip", {
    cues: ["You look rested, where have you been?", "How was the time off?", "Tell me about the holiday!"],
    tellings: [
      "We spent ten days in {v} and I never wanted to leave.",
      "{v}! The light in the evening was unreal.",
      "We drove all the way to {v}, the kids loved it.",
    ],
    questions: [
      "Where did {p} travel on vacation?",
      "Which destination did {p} visit?",
      "What place did {p} go to for the trip?",
    ],
    values: "the Azores; northern Norway; Oaxaca; the Dolomites; Hokkaido; the Outer Hebrides; Tasmania",
  }),
  kind("instrument", {
    cues: [
      "What is that noise in the background?",
      "Still looking for something to do in the evenings?",
      "Did you sign up for that class?",
    ],
    tellings: [
      "I started lessons on the {v}, my neighbours hate me.",
      "I bought a used {v} and practise every night.",
      "Yes, {v}, twice a week with a very patient teacher.",
    ],
    questions: ["What instrument is {p} learning?", "What does {p} play?", "Which musical instrument did {p} take up?"],
    values: "cello; trombone; mandolin; clarinet; accordion; marimba",
  }),
  kind("allergy", {
    cues: ["Why did you skip the cake?", "What did the doctor say?", "Are you all right? You looked awful on Sunday."],
    tellings: [
      "Turns out I can't have {v}, my throat swells up.",
      "The tests came back: {v}. So no more of that.",
      "It was the {v}, I had to take pills for two days.",
    ],
    questions: ["What is {p} allergic to?", "Which food must {p} avoid?", "What ingredient makes {p} ill?"],
    values: "cashews; shellfish; buckwheat; kiwi fruit; sesame; egg white",
  }),
  kind("sport", {
    cues: ["What happened to your knee?", "You are so fit lately!", "What are your weekends like now?"],
    tellings: [
      "I joined a {v} club and we train on Saturdays.",
      "It's {v}. I fall a lot but I love it.",
      "All {v}, all the time, since spring.",
    ],
    questions: ["What sport does {p} do?", "How does {p} keep in shape?", "Which athletic activity did {p} start?"],
    values: "fencing; bouldering; rowing; roller derby; judo; open water swimming",
  }),
  kind("book", {
    cues: ["Anything good on the nightstand?", "What are you reading these days?", "You were up late again?"],
    tellings: ["I couldn't put down {v}.", "{v}, my sister lent it to me.", "I finished {v} at three in the morning."],
    questions: ["What book did {p} enjoy?", "Which novel has {p} finished?", "What has {p} been reading?"],
    values:
      "The Glass Harbour; A Winter of Bees; Salt and Cedar; The Cartographer's Son; Nine Lanterns; The Quiet Orchard",
  }),
  kind("car", {
    cues: ["You came by train?", "What's with the tow truck outside?", "How is the old car?"],
    tellings: [
      "Sold it. We drive {v} now.",
      "It died, so we got {v} from my uncle.",
      "Gone. I test drove {v} and signed the same day.",
    ],
    questions: ["What vehicle does {p} own?", "Which car did {p} buy?", "What does {p} drive?"],
    values:
      "a green Skoda estate; an electric Renault; a camper van; a tiny Fiat; a used Volvo; a cargo bike instead of a car",
  }),
  kind("sibling", {
    cues: ["Who was that at the party with you?", "Is your family well?", "How is everyone at home?"],
    tellings: [
      "My brother {v} came back for good.",
      "{v}, my brother, is getting married in autumn!",
      "We are all proud: my brother {v} passed the bar.",
    ],
    questions: ["What is the name of {p}'s brother?", "Who is {p}'s sibling?", "What is {p}'s brother called?"],
    values: "Leopold; Anselm; Rafferty; Quentin; Ignatius; Thaddeus",
  }),
  kind("charity", {
    cues: ["What are you up to on Thursdays?", "You always seem busy after work.", "Why the early start tomorrow?"],
    tellings: ["I help out at {v}, it keeps me sane.", "I give my evenings to {v} now.", "We sort donations at {v}."],
    questions: [
      "Where does {p} volunteer?",
      "Which good cause does {p} support?",
      "What organisation does {p} donate time to?",
    ],
    values:
      "the river clean-up; the night shelter; the reading circle for children; the seed bank; the repair café; the food bank on Mill Street",
  }),
  kind("home", {
    cues: ["How is the new flat?", "Did you get the keys?", "So you really left the city?"],
    tellings: [
      "We moved into {v}, boxes everywhere.",
      "Yes, {v}. The roof leaks, but the garden!",
      "Signed last week: {v}, with room for a workshop.",
    ],
    questions: ["Where does {p} live now?", "What kind of house did {p} move to?", "Which home did {p} buy or rent?"],
    values:
      "an old mill by the canal; a loft above the bakery; a houseboat; a farmhouse near Tarn; a terraced house on Elm Row; a cabin in the pines",
  }),
  kind("dish", {
    cues: ["What smells so good?", "Are you still cooking on Sundays?", "Dinner at yours was great!"],
    tellings: [
      "My {v}, grandmother's way.",
      "I finally got {v} right, the trick is patience.",
      "I made {v} for twelve people.",
    ],
    questions: ["What does {p} like to cook?", "Which recipe is {p} good at?", "What meal did {p} prepare?"],
    values: "mushroom pierogi; lamb tagine; laksa; saffron risotto; cassoulet; black bean tamales",
  }),
  kind("fear", {
    cues: ["Why wouldn't you come up the tower?", "You turned so pale!", "What happened on the bridge?"],
    tellings: [
      "It's {v}, since I was six.",
      "I can't stand {v}. My hands shake.",
      "{v} gets me every time, I'm working on it.",
    ],
    questions: ["What is {p} afraid of?", "Which phobia does {p} have?", "What scares {p}?"],
    values: "heights; thunder; deep water; lifts; moths; crowds in the dark",
  }),
  kind("degree", {
    cues: ["So you are a student again?", "What are all those papers?", "How are the evening classes?"],
    tellings: [
      "I enrolled in {v}, two years part time.",
      "It's {v}. The statistics part is killing me.",
      "I decided on {v} in the end.",
    ],
    questions: [
      "What is {p} studying?",
      "Which course or degree did {p} begin?",
      "What subject did {p} choose at university?",
    ],
    values: "marine biology; art restoration; public health; urban planning; computational linguistics; viticulture",
  }),
  kind("gift", {
    cues: ["What did you get for your birthday?", "Where is that from? It's beautiful.", "Did they spoil you?"],
    tellings: [
      "My colleagues gave me {v}, I nearly cried.",
      "It's {v}, a present from my aunt.",
      "They surprised me with {v}!",
    ],
    questions: ["What present did {p} receive?", "What was {p} given for the birthday?", "Which gift made {p} happy?"],
    values:
      "a telescope; a hand-thrown teapot; a week of pottery lessons; a first edition; a hammock; a silver compass",
  }),
  kind("illness", {
    cues: ["You sound terrible.", "Where were you all last week?", "Are you feeling better?"],
    tellings: [
      "I was flat on my back with {v}.",
      "It was {v}. The antibiotics are working.",
      "{v}, of all things. I am on my feet again.",
    ],
    questions: ["What health problem did {p} have?", "Why was {p} sick?", "Which disease did {p} recover from?"],
    values: "shingles; pneumonia; a slipped disc; tonsillitis; Lyme disease; a kidney stone",
  }),
  kind("project", {
    cues: ["What are you building in the garage?", "How is your big plan coming along?", "Is it finished?"],
    tellings: [
      "The {v} is nearly done, only the paint is missing.",
      "I'm still sanding the {v}.",
      "I tore up the drawings and began the {v} again.",
    ],
    questions: [
      "What is {p} making?",
      "Which thing is {p} constructing by hand?",
      "What does {p} work on in the workshop?",
    ],
    values: "cedar canoe; harpsichord kit; greenhouse; tree house; weather station; dollhouse",
  }),
  kind("language", {
    cues: [
      "What was that you said on the phone?",
      "Who are you talking to every morning?",
      "How is the app working for you?",
    ],
    tellings: [
      "That was {v}! I can order coffee by now.",
      "I practise {v} with a lady from the library.",
      "A hundred days of {v} without a break.",
    ],
    questions: [
      "Which language is {p} learning?",
      "What foreign tongue does {p} speak a little of?",
      "What is {p} practising to speak?",
    ],
    values: "Icelandic; Portuguese; Georgian; Welsh; Swahili; Korean",
  }),
  kind("plan", {
    cues: ["What comes next for you two?", "Any big decisions?", "You had something to announce?"],
    tellings: ["We want to {v} next year.", "It's settled, we will {v}.", "Don't tell anyone yet: we {v} in summer."],
    questions: [
      "What are {p}'s plans for the future?",
      "What does {p} intend to do?",
      "What big step is {p} preparing?",
    ],
    values: "open a bakery; adopt a child; walk the Camino; start a choir; keep bees; sail to Brittany",
  }),
  kind("loss", {
    cues: ["What's wrong? You're so quiet.", "You look upset.", "Did something happen?"],
    tellings: [
      "I left {v} on the bus and it's gone.",
      "Someone stole {v} from the hallway.",
      "I can't find {v} anywhere, I've searched all day.",
    ],
    questions: ["What did {p} lose?", "Which belonging of {p} went missing?", "What was taken from {p}?"],
    values: "grandfather's watch; my sketchbook; the violin case; our camera; the passport; a box of letters",
  }),
]

/** Talk without facts, which mentions the same things in passing. */
export const SMALL_TALK: readonly string[] = [
  "Ha, that's so you.",
  "I know exactly what you mean.",
  "Anyway, how is everything else?",
  "That reminds me of school.",
  "No way!",
  "I'm happy for you.",
  "The weather has been strange this week.",
  "I had to work late again, nothing new.",
  "My phone died halfway through the day.",
  "Let's meet soon, it's been too long.",
  "I tried that new café by the station, not bad.",
  "The train was full of people with dogs today.",
  "My neighbour practises piano all night.",
  "I should read more, honestly.",
  "Everybody seems to be moving house this year.",
  "I watched a film about a sailor, I fell asleep.",
  "My sister sends her love.",
  "I still have to buy a birthday present for my boss.",
  "We talked about travelling, but money is tight.",
  "The doctor's waiting room took two hours.",
  "I cooked pasta again, don't judge me.",
  "The car park was flooded.",
  "They want us back in the office on Mondays.",
  "I went for a run and regretted it.",
  "Do you remember our old teacher?",
  "What a week.",
  "I'll send you the pictures later.",
  "Sounds like a plan.",
  "Tell me more!",
  "That must have been hard.",
  "Good for you, really.",
  "I slept badly, the street is so loud.",
  "We finally fixed the washing machine.",
]
