#!/bin/bash
# SPDX-License-Identifier: MIT
# aprof bindings: what lines mean in one sentence, what is wrong where, and the table of words;
# no compiler is asked.
. "${0%/*}/../lib.sh"

aprof=$build/aprof
cd "$work" || exit

# means LINE SENTENCE
means() {
  printf '%s\n' "$1" >line.aprof
  equal "$1" "line.aprof:1: $1
    $2" "$("$aprof" bindings line.aprof 2>&1)"
}
means 'create call:uv_write key=w:a0 fn=a4 ok=ret==0 | run key=w:a0 once' \
  "a call of uv_write that returns 0 makes a future of the function in its 5th argument, known as w:(1st argument); each call of that function runs it once, which ends it"
means 'create call:add key=(a1,a2) fn=a1 when=a1!=0 ready | run key=(self,a0) once=ret==0' \
  "if its 2nd argument is not 0, a call of add makes a future of the function in its 2nd argument, known as (2nd argument, 3rd argument); it can run at once; each call of that function runs it (there (function itself, 1st argument)), which ends it if then what it returns is 0"
means 'create call:arm key=a0 due=a1:ms rearm | run type:on_timer key=a0->link multi' \
  "a call of arm makes a future known as (1st argument), or makes one that is known so already go on; it is due after its 2nd argument in ms; the body of each function that is used as on_timer runs the future known as (link of the 1st argument), after which it waits for its next run"
means 'create call:pass fn=a0 | run key=a1' \
  "a call of pass makes a future of the function in its 1st argument; each call of that function runs the future known as (2nd argument), after which it waits for its next run"
means 'async def:/^co_(read|write)$/ root' \
  "the body of co_read or co_write is a future, from its beginning to its end; it has no parent"
means 'run def:step key=a0 pending=1,2' \
  "the body of step runs the future known as (1st argument); it waits for its next run where 1 or 2 is returned, else it ends"
means 'await icall:conn.wait background' \
  "the running future waits for new work during a call through conn.wait"
means 'wake store:event.ready=1 key=e:obj,f:obj->peer' \
  "an assignment of 1 to event.ready makes the futures known as e:(object) and f:(peer of the object) ready to run"
means 'end call:stop key=cur how=cancelled noreturn' \
  "a call of stop ends the running future as cancelled; nobody comes back from it"
means 'switch call:transfer key=a1' \
  "from a call of transfer on the future known as (2nd argument) runs in place of the one that ran"
means 'idle call:epoll_wait when=a3!=0' \
  "if its 4th argument is not 0, the thread is idle during a call of epoll_wait"
means 'blocking call:/_sync$/' \
  "the whole thread sleeps during a call of a function whose name matches /_sync\$/, and holds what runs on it"
means 'helper call:read_all' \
  "what suspends or is created inside a call of read_all is told by the line of this call"
means 'span def:/^json_/ tier=render' \
  "the time of the body of a function whose name matches /^json_/ is told apart inside what runs; it counts for the tier render"
means 'await call:db_query tier=db' \
  "the running future waits during a call of db_query; it counts for the tier db"
means 'create call:cache_get key=a0 tier=cache label=a1->name:str,a1->length token=a2 | run once' \
  "a call of cache_get makes a future known as (1st argument); what it waits for counts for the tier cache; its request is labelled with the field name of the 2nd argument (a text of the field length of the 2nd argument bytes); its request goes on with the traceparent in its 3rd argument; a run ends it"
means 'label call:route key=r:a0 value=ret->method:METHODS' \
  "a call of route labels the request of the future known as r:(1st argument) with the field method of what it returns (a name of enum METHODS)"
means 'label def:handle value=identify(a0):int' \
  "the body of handle labels the request of what runs with identify(the 1st argument) (a number)"
means 'label call:send token>a1' \
  "before a call of send the running request's traceparent is written to its 2nd argument"
means 'request def:handle label=a0:str' \
  "the body of handle is a request, from its beginning to its end; its request is labelled with its 1st argument (a text)"
means 'request def:handle sample=a0->size>=100' \
  "the body of handle is a request, from its beginning to its end; a recording of some requests may keep it if the field size of the 1st argument is at least 100"
means 'run def:step key=a0 for=r:a1 multi' \
  "the body of step runs the future known as (1st argument), after which it waits for its next run; this is part of the request whose root is known as r:(2nd argument)"
means 'wake call:pass key=a0 hand' \
  "a call of pass makes the future known as (1st argument) ready to run, in the request of what runs"
means 'header uv.h' "the lines of this file hold for names that uv.h declares"

# Each word that takes no value says something in the sentence of each line that it goes with; of these
# `multi` alone says what would be so without it.
declare -A plain=([async]="async def:f" [request]="request def:f" [await]="await call:f" [span]="span call:f")
for verb in create run wake end switch; do plain[$verb]="$verb call:f key=a0"; done
plain[label]="label call:f key=a0 value=a1:str"
"$aprof" bindings --words --json >words.json
value words.json '*((verb.strip(), w.name) for w in t.words if w.kind == "word" and (w.form is None or w.bare)
  for verb in w.goes_with.replace(",", " ").split())' >pairs.txt
while read -r verb word; do
  echo "${plain[$verb]}" >without.aprof
  echo "${plain[$verb]} $word" >with.aprof
  [ "$("$aprof" bindings without.aprof | tail -n 1)" != "$("$aprof" bindings with.aprof | tail -n 1)" ] || echo "$verb $word"
done <pairs.txt >silent.txt
check "words that take no value" test "$(wc -l <pairs.txt)" -ge 15
equal "each word has a part in the sentence" "run multi" "$(cat silent.txt)"

# A file of names is one line, wherever that is.
mkdir -p names && printf 'co_a # one\nco_b\n' >names/list && echo 'async def:@list' >names/n.aprof
equal "a file of names is one line" 1 "$("$aprof" bindings names/n.aprof | grep -c '^names/n.aprof:1: async def:@list$')"
contains "and is named" "the body of a function that list names is a future" <("$aprof" bindings names/n.aprof)

# Every shipped file, and that of each example: no error, a sentence for each line, none of which is broken.
for file in "$src"/bindings/*.aprof "$src"/examples/*.aprof; do
  name=${file##*/}
  check "$name: has no error" "$aprof" bindings "$file"
  "$aprof" bindings --json "$file" >file.json
  equal "$name: each line means something" "$(grep -cE '^[[:space:]]*[a-z]' "$file")" \
    "$(value file.json 'sum(len(line.meaning) > 20 for file in t.files for line in file.lines)')"
  equal "$name: each sentence is whole" "" \
    "$(value file.json '*((line.meaning,) for file in t.files for line in file.lines)' |
      grep -E '  |\(\)|, ,|;;|the the|[;,] ?$|^ ' | grep -v '[a-z]()')"
done

# Errors: place, text, remedy; a caret below, behind a tab too.
printf '# ok\nawait call:f\n\tawiat call:f\n' >wrong.aprof
"$aprof" bindings wrong.aprof >out.txt 2>err.txt
equal "a file with an error: the status" 1 $?
equal "a file with an error: what it says" "wrong.aprof:3:2: error: unknown verb 'awiat'
    3 | 	awiat call:f
      | 	^~~~~
wrong.aprof:3:2: note: known: $("$aprof" bindings --words | sed -n 's/^verb //p' | xargs)" "$(cat err.txt)"
contains "its other lines are told" "the running future waits during a call of f" out.txt
"$aprof" bindings --json wrong.aprof >wrong.json
equal "in JSON, too" '["wrong.aprof",3,2,"unknown verb '"'awiat'"'",true]' \
  "$(value wrong.json '(lambda e: [*pick(e, "file line column text"), e.remedy.startswith("known: async ")])(t.files[0].errors[0])')"
echo 'async def:@nowhere' >lost.aprof
"$aprof" bindings lost.aprof 2>err.txt
equal "a file of names that is not there: the status" 1 $?
contains "it is named" "nowhere: error: file of names 'nowhere' cannot be read: No such file" err.txt
contains "and who asks for it" "lost.aprof:1:11: note: asked for by 'async def:@nowhere'" err.txt
"$aprof" bindings ./nowhere.aprof 2>err.txt
equal "no such file: the status" 1 $?
contains "no such file" "./nowhere.aprof: error: cannot be read: No such file or directory" err.txt
"$aprof" bindings >out.txt 2>err.txt
equal "no file: usage" 2 $?

# The same mistakes as the plugin finds, at the same places, with the same words.
cp "$src"/tests/plugin/diagnostics/file.aprof "$src"/tests/plugin/diagnostics/words.names .
"$aprof" bindings --json file.aprof | value - '*(
  ("%s:%s:%s: " % (e.file, e.line, e.column) + ("note: " if e.note else "error: ") + e.text +
   ("; " + e.remedy if e.remedy else ""),)
  for file in t.files for e in file.errors if e.line)' | sort >ours.txt
grep -E '^(file\.aprof|words\.names):[0-9:]* (error|note)' "$src/tests/plugin/diagnostics/file.err" |
  grep -vE "asked for by '(create|run|wake|end|await)" | sort >theirs.txt
equal "the plugin says the same" "$(cat theirs.txt)" "$(cat ours.txt)"
printf 'create call:f\033[31m key=a0\nrun \033[0m\n' >escape.aprof
"$aprof" bindings escape.aprof >escape.txt 2>&1
equal "what a terminal would obey stands as ?" "0 ?" \
  "$(grep -c "$(printf '\033')" escape.txt) $(grep -o '?' escape.txt | head -n 1)"
finish
