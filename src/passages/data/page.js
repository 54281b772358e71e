(function () {
  var texts = document.querySelectorAll('.text');
  var together = document.getElementById('together');
  var other = {a: 'b', b: 'a'};
  var box = {a: texts[0], b: texts[1]};
  var marks = {a: [], b: []};
  var moved = null;  // the text that was scrolled by this script
  var waiting = false;

  if (texts.length != 2)
    return;
  together.closest('p').hidden = false;
  ['a', 'b'].forEach(function (side) {
    marks[side] = [].slice.call(box[side].querySelectorAll('mark a[id]'));
  });

  function top(element, text) {
    return element.getBoundingClientRect().top - text.getBoundingClientRect().top;
  }

  // The passage of a text that is nearest to the reader's eyes.  Passages come from top to bottom.
  function nearest(side) {
    var text = box[side], eyes = text.clientHeight / 3;
    var low = 0, high = marks[side].length;

    while (low < high) {
      var middle = (low + high) >> 1;

      if (top(marks[side][middle], text) < eyes)
        low = middle + 1;
      else
        high = middle;
    }
    return marks[side].slice(Math.max(low - 1, 0), low + 1).sort(function (one, two) {
      return Math.abs(top(one, text) - eyes) - Math.abs(top(two, text) - eyes);
    })[0];
  }

  // Scroll the other text along.
  function follow(side) {
    var from = box[side], to = box[other[side]], near = nearest(side);

    moved = to;
    if (near && Math.abs(top(near, from)) < from.clientHeight)
      to.scrollTop += top(document.getElementById(near.hash.slice(1)), to) - top(near, from);
    else
      to.scrollTop = from.scrollTop / Math.max(1, from.scrollHeight - from.clientHeight) *
        (to.scrollHeight - to.clientHeight);
  }

  // To the next passage of the text, or the one before.
  function step(side, forward) {
    var at = marks[side].indexOf(document.activeElement);
    var mark;

    if (!marks[side].length)
      return;
    at = forward ? Math.min(at + 1, marks[side].length - 1) : Math.max(at - 1, 0);
    mark = marks[side][at];
    mark.focus({preventScroll: true});
    mark.scrollIntoView({block: 'center'});
  }

  // A number that stands for several places goes to each in turn.
  function turn(link) {
    var places = link.dataset.to.split(' ');
    var at = link.dataset.at ? (Number(link.dataset.at) + 1) % places.length : 0;

    link.dataset.at = at;
    link.hash = link.hash.replace(/[0-9]+$/, places[at]);
  }

  ['a', 'b'].forEach(function (side) {
    box[side].addEventListener('click', function (event) {
      var link = event.target.closest('a[data-to]');

      if (link)
        turn(link);
    });
    box[side].addEventListener('scroll', function () {
      if (moved === box[side]) {
        moved = null;
        return;
      }
      if (!together.checked || waiting)
        return;
      waiting = true;
      requestAnimationFrame(function () {
        waiting = false;
        follow(side);
      });
    }, {passive: true});
    // single letters act in the texts alone
    box[side].addEventListener('keydown', function (event) {
      if ((event.key == 'n' || event.key == 'p') && !event.ctrlKey && !event.metaKey && !event.altKey)
        step(side, event.key == 'n');
    });
  });
})();
