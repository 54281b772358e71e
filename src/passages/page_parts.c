/*
 * page_parts.c
 *		What each page of passages has in it: its style and its script.
 *
 * The page can be read without the script, which only scrolls: one text along
 * with the other, and with n and p to the next passage and the one before.
 * Text on all colours has a contrast of at least 7 to 1, by light and in the
 * dark; as colours come again, passages have numbers, too.
 */
#include "postgres.h"

#include "passages/page_parts.h"

const char	page_style[] =
":root{color-scheme:light dark;--ink:#1b1b1b;--paper:#fff;--edge:#767676;--link:#0b4fa8;"
"--c0:#ffe08a;--c1:#bfe3ff;--c2:#c9f0c0;--c3:#ffd0c4;--c4:#e2d3ff;--c5:#b9efe6;--c6:#ffcfe6;--c7:#e4e4b0}\n"
"@media(prefers-color-scheme:dark){:root{--ink:#f0f0f0;--paper:#161616;--edge:#8c8c8c;--link:#9cc9ff;"
"--c0:#5a4500;--c1:#0e3f63;--c2:#1f4a17;--c3:#64281a;--c4:#43307a;--c5:#0c4a42;--c6:#641f45;--c7:#45451a}}\n"
"*{box-sizing:border-box}\n"
"body{margin:0;padding:0 1rem 1rem;font:1rem/1.5 system-ui,sans-serif;color:var(--ink);background:var(--paper)}\n"
"h1{font-size:1.3rem;margin:.6rem 0 .2rem}h2{font-size:1rem;margin:.4rem 0;overflow-wrap:anywhere}p{margin:.2rem 0}\n"
"a{color:var(--link)}:focus-visible{outline:3px solid var(--link);outline-offset:1px}\n"
"summary{cursor:pointer;padding:.2rem 0}\n"
"table{border-collapse:collapse;margin:.3rem 0}th,td{border:1px solid var(--edge);padding:.1rem .6rem;text-align:start}\n"
".list{max-height:14rem;overflow:auto}\n"
".texts{display:grid;grid-template-columns:1fr 1fr;gap:1rem}\n"
".text{height:calc(100vh - 11rem);min-height:16rem;overflow:auto;border:1px solid var(--edge);border-radius:.3rem;"
"padding:.6rem .8rem;white-space:pre-wrap;overflow-wrap:anywhere;unicode-bidi:plaintext;text-align:start}\n"
"mark{color:inherit;border-radius:.15rem;padding:.05em 0}\n"
".c0{background:var(--c0)}.c1{background:var(--c1)}.c2{background:var(--c2)}.c3{background:var(--c3)}"
".c4{background:var(--c4)}.c5{background:var(--c5)}.c6{background:var(--c6)}.c7{background:var(--c7)}\n"
"mark a{display:inline-block;min-width:1.5rem;min-height:1.5rem;padding:0 .25rem;margin-inline-end:.2rem;"
"font:.8rem/1.5rem system-ui,sans-serif;text-align:center;color:inherit;border:1px solid var(--edge);"
"border-radius:.3rem;user-select:none;-webkit-user-select:none;unicode-bidi:isolate;text-decoration:none;scroll-margin:5rem}\n"
"mark a:target{outline:3px solid var(--link);font-weight:bold}\n"
".skip{position:absolute;inset-inline-start:-99rem}.skip:focus{position:static}\n"
"@media(max-width:45rem){.texts{grid-template-columns:1fr}.text{height:45vh}}\n"
"@media print{.text,.list{height:auto;max-height:none;overflow:visible}}\n"
"@media(prefers-reduced-motion:no-preference){.text{scroll-behavior:auto}}\n";

const char	page_script[] =
"(function(){\n"
"var texts=document.querySelectorAll('.text'),together=document.getElementById('together');\n"
"if(texts.length!=2)return;\n"
"together.closest('p').hidden=false;\n"
"var other={a:'b',b:'a'},box={a:texts[0],b:texts[1]},moved=null,marks={a:[],b:[]};\n"
"['a','b'].forEach(function(s){marks[s]=[].slice.call(box[s].querySelectorAll('mark a[id]'))});\n"
"function top(e,b){return e.getBoundingClientRect().top-b.getBoundingClientRect().top}\n"
"function follow(s){\n"
" var from=box[s],to=box[other[s]],near=null,d,best=1e9;\n"
" marks[s].forEach(function(m){d=Math.abs(top(m,from)-from.clientHeight/3);if(d<best){best=d;near=m}});\n"
" if(near&&best<from.clientHeight){\n"
"  var m=document.getElementById(near.hash.slice(1));\n"
"  moved=to;to.scrollTop+=top(m,to)-top(near,from);\n"
" }else{\n"
"  moved=to;to.scrollTop=from.scrollTop/Math.max(1,from.scrollHeight-from.clientHeight)*(to.scrollHeight-to.clientHeight);\n"
" }\n"
"}\n"
"var waiting=false;\n"
"['a','b'].forEach(function(s){box[s].addEventListener('scroll',function(){\n"
" if(moved===box[s]){moved=null;return}\n"
" if(!together.checked||waiting)return;\n"
" waiting=true;requestAnimationFrame(function(){waiting=false;follow(s)});\n"
"},{passive:true})});\n"
"document.addEventListener('keydown',function(e){\n"
" if((e.key!='n'&&e.key!='p')||e.ctrlKey||e.metaKey||e.altKey)return;\n"
" var s=box.b.contains(document.activeElement)?'b':'a',at=marks[s].indexOf(document.activeElement);\n"
" if(!marks[s].length)return;\n"
" at=e.key=='n'?Math.min(at+1,marks[s].length-1):Math.max(at-1,0);\n"
" var m=marks[s][at];m.focus({preventScroll:true});m.scrollIntoView({block:'center'});\n"
"});\n"
"})();\n";
