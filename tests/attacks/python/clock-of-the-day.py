# kind: clock
# aim: answer with the year, right today and wrong tomorrow
# proof: the two lanes give two years
# expect: returned
# lanes: differ

import datetime


def transform(records):
    return datetime.date.today().year
