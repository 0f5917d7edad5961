struct parts { int *from; struct { int *to; int n; } inner; };
int *make_array(int n, int value);
parts make_parts(int n);
int *middle_of(const parts &p);
