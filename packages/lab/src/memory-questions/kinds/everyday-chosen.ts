/** Everyday facts, for choosing weights. */
import { type FactKind, kind } from "./fact-kind.ts"

export const EVERYDAY_CHOSEN: readonly FactKind[] = [
  kind("pet", {
    topic: "adopting a pet",
    questions: ["What is {p}'s pet called?", "Which animal did {p} adopt?"],
    said: [
      "We adopted {v} from the shelter and the whole house is upside down.",
      "Our new pet is {v}, and she already owns the sofa.",
    ],
    asked: [
      ["Wait, what is your new pet called?", "That's {v}! She chews everything."],
      ["So which animal did you adopt in the end?", "{v}. The kids chose."],
    ],
    otherwise: ["Meet {v}, our new flatmate with four legs.", "{v} moved in on Sunday and sleeps on my keyboard."],
    follow: ["A pet changes everything, you'll see.", "Adopting is the right thing, so many animals wait for a home."],
    passing: [
      "My cousin wants a pet too, but her landlord says no.",
      "They called every shelter in town about that animal.",
    ],
    values:
      "a beagle named Biscuit; a tabby by the name of Miso; a parrot, Kiwi; a greyhound named Comet; a rabbit, Clover",
  }),
  kind("job", {
    topic: "starting the new job",
    questions: ["What is {p}'s new job?", "What position did {p} start in?"],
    said: ["I start my new job next month: {v}.", "The position is mine! I'm going to be {v}."],
    asked: [
      ["And what is the new job exactly?", "I'm {v} now, can you believe it?"],
      ["Which position did they offer you?", "{v}. I signed yesterday."],
    ],
    otherwise: ["They hired me as {v}, contract and all.", "From Monday you are talking to {v}."],
    follow: ["A new job at last, you waited long enough!", "And when do you start? Is the position for good?"],
    passing: ["My sister hates her job more every week.", "There are no positions open at our place."],
    values: "a museum curator; a paediatric nurse; a data analyst at a bank; a landscape architect; a sound engineer",
  }),
  kind("trip", {
    topic: "the trip abroad",
    questions: ["Where did {p} travel?", "Which place did {p} visit on the trip?"],
    said: ["We travelled to {v} and I never wanted to leave.", "The trip to {v} was the best thing this year."],
    asked: [
      ["Where did you travel this time?", "{v}! The light in the evening was unreal."],
      ["How was the trip? Which place was it again?", "Ten days in {v}, and it rained on nine."],
    ],
    otherwise: ["We are just back from {v}, still unpacking.", "Ten days in {v} with the kids, everyone got along."],
    follow: ["I want to travel there too one day.", "Did the kids like the trip?"],
    passing: ["I'd love to travel more, but money is tight.", "Everyone at work is on some trip right now."],
    values: "the Azores; northern Norway; Oaxaca; the Dolomites; Hokkaido; the Outer Hebrides",
  }),
  kind("instrument", {
    topic: "learning an instrument",
    questions: ["What instrument is {p} learning?", "Which musical instrument does {p} play?"],
    said: ["I'm learning an instrument at last: the {v}.", "I play the {v} now, the neighbours hate me."],
    asked: [
      ["What instrument is that I hear?", "My {v}. Sorry about that."],
      ["You play something now? Which instrument?", "{v}, twice a week with a very patient teacher."],
    ],
    otherwise: ["I bought a used {v} and practise every night.", "My fingers hurt from the {v} lessons."],
    follow: ["It's never too late for an instrument.", "You have to play something for us soon."],
    passing: ["My neighbour plays music until midnight.", "We learned about old instruments in that museum."],
    values: "cello; trombone; mandolin; clarinet; accordion",
  }),
  kind("allergy", {
    topic: "the allergy test",
    questions: ["What is {p} allergic to?", "Which food does {p} have to avoid?"],
    said: ["Turns out I'm allergic to {v}.", "I have to avoid {v} from now on, doctor's orders."],
    asked: [
      ["So what are you allergic to, did the test say?", "{v}, of all things."],
      ["Which food do you have to leave out now?", "No more {v}. My throat swells up."],
    ],
    otherwise: [
      "The rash was from {v}, so that's off the menu.",
      "I touched {v} again and had to take pills for two days.",
    ],
    follow: ["An allergy like that is no joke.", "So many foods have it in them, be careful what you eat."],
    passing: ["The food at that place was awful.", "Half my class is allergic to something."],
    values: "cashews; shellfish; buckwheat; kiwi fruit; sesame",
  }),
  kind("sport", {
    topic: "taking up the sport",
    questions: ["What sport does {p} do?", "Which sport did {p} take up?"],
    said: ["I took up a sport, finally: {v}.", "My sport is {v} now, every Saturday."],
    asked: [
      ["Which sport was it that you took up?", "{v}. I fall a lot but I love it."],
      ["Do you do any sport these days?", "{v}, since spring."],
    ],
    otherwise: ["I joined a {v} club and everything aches.", "All {v}, all the time, since spring."],
    follow: ["A sport is good for the head too.", "Who got you to take that up?"],
    passing: ["There was only sport on television.", "I should do some sport, honestly."],
    values: "fencing; bouldering; rowing; roller derby; judo",
  }),
  kind("book", {
    topic: "finishing the book",
    questions: ["Which book did {p} read?", "What book did {p} recommend?"],
    said: ["I read a book in one night: {v}.", "You must read {v}, I recommend it to everyone."],
    asked: [
      ["What book is that on your table?", "{v}. My sister lent it to me."],
      ["Did you read anything good? I need a book.", "{v}, I couldn't put it down."],
    ],
    otherwise: ["I finished {v} at three in the morning.", "I cried over the last chapter of {v}."],
    follow: ["I'll put that book on my list.", "I read something by the same author."],
    passing: ["I should read more, honestly.", "The library threw out a box of old books."],
    values: "The Glass Harbour; A Winter of Bees; Salt and Cedar; The Cartographer's Son; Nine Lanterns",
  }),
  kind("vehicle", {
    topic: "buying the car",
    questions: ["What car does {p} drive?", "Which car did {p} buy?"],
    said: ["We bought a car: {v}.", "I drive {v} now, the old car is gone."],
    asked: [
      ["Which car did you buy in the end?", "{v}, from my uncle."],
      ["Is the old car still alive? What do you drive?", "It died. {v} now."],
    ],
    otherwise: ["{v} is parked in front of our house, and it's ours!", "I test drove {v} and signed the same day."],
    follow: ["A car like that is cheap to run, at least.", "Will you drive it to the sea?"],
    passing: ["The car park was flooded again.", "I can't drive past that crossing without shaking."],
    values: "a green Skoda estate; an electric Renault; a camper van; a tiny Fiat; a used Volvo",
  }),
  kind("brother", {
    topic: "the visit of the brother",
    questions: ["What is the name of {p}'s brother?", "Who is {p}'s brother?"],
    said: ["My brother {v} came back for good.", "We are all proud, my brother {v} passed the bar."],
    asked: [
      ["Was that your brother? What's the name?", "Yes, that's {v}."],
      ["How is your brother, the one who moved?", "{v} is fine, he's getting married!"],
    ],
    otherwise: [
      "{v} and I grew up in one room, you know how siblings are.",
      "Mum is happy, both her sons are home, {v} too.",
    ],
    follow: ["Your brother was always kind to me.", "Brothers, honestly. Mine never calls."],
    passing: ["My neighbour's brother fixed our roof.", "I forgot the name of that street again."],
    values: "Leopold; Anselm; Rafferty; Quentin; Ignatius",
  }),
  kind("volunteering", {
    topic: "beginning to volunteer",
    questions: ["Where does {p} volunteer?", "Which organisation does {p} volunteer for?"],
    said: ["I volunteer at {v} on Thursdays.", "I began volunteering for {v}, it keeps me sane."],
    asked: [
      ["Where do you volunteer, actually?", "At {v}. We always need people."],
      ["Are you still volunteering for that organisation?", "{v}, yes, every week."],
    ],
    otherwise: ["I help out at {v} after work.", "I give my evenings to {v} now."],
    follow: ["I admire people who volunteer.", "Do they need more volunteers?"],
    passing: ["They need volunteers for the street party.", "Some organisation rang me for a donation at dinner."],
    values: "the river clean-up; the night shelter; the reading circle; the seed bank; the repair café",
  }),
  kind("home", {
    topic: "moving house",
    questions: ["Where did {p} move to?", "What kind of house does {p} live in?"],
    said: ["We moved into {v}, boxes everywhere.", "The house is ours: {v}, with room for a workshop."],
    asked: [
      ["So where did you move to?", "{v}. The roof leaks, but the garden!"],
      ["Do you live in the new house already?", "Since Friday. It's {v}."],
    ],
    otherwise: ["We got the keys to {v} today.", "I woke up in {v} and didn't know where I was."],
    follow: ["Moving is half the fun, the house is the other half.", "I'll bring bread and salt to the new house."],
    passing: ["Everybody seems to be moving this year.", "I was alone in the house all day."],
    values:
      "an old mill by the canal; a loft above the bakery; a houseboat; a farmhouse near Tarn; a cabin in the pines",
  }),
  kind("gift", {
    topic: "the birthday gift",
    questions: ["What gift did {p} get?", "What was {p} given for the birthday?"],
    said: ["For my birthday they gave me {v}.", "The best gift this year was {v}."],
    asked: [
      ["What gift did your colleagues come up with?", "{v}, I nearly cried."],
      ["What were you given for your birthday?", "{v}. They know me."],
    ],
    otherwise: ["My aunt surprised me with {v}.", "I unwrapped {v} and screamed."],
    follow: ["What a gift, they must like you.", "And you said you wanted nothing for your birthday!"],
    passing: ["I still need a gift for my boss.", "Birthdays get worse every year."],
    values: "a telescope; a hand-thrown teapot; a week of pottery lessons; a first edition; a silver compass",
  }),
]
